"""What ISO is made of, drawn: cubes with three walls, and where they are in each perspective.

A cube has its wall x on the left, y on the right and z on top. In coordinates (p, q, r) along the normals of the
three, neighbouring tiles differ by e_x = (0, 1, -1), e_y = (-1, 0, 1) and e_z = (1, -1, 0): what is seen along an
axis are the other two coordinates, and the whole is seen from (1, 1, 1).
"""

from __future__ import annotations

from iszoo.envs.drawing.canvas import INK, WHITE, YELLOW, Canvas, Point, around, number
from iszoo.envs.iso import FACE_WALLS

Spot = tuple[int, int]  # a cell (x, y) of the table, unrolled from the torus

BLACK, WHITE_MARK, VOID, OWN = range(4)
# Pink, yellow and blue, of different lightness too; in objectives "white", which is any one of them.
PAINT = ("#E29BC3", YELLOW, "#00568F", "#FFFDF8")
NORMALS = ((-0.866, 0.5), (0.866, 0.5), (0.0, -1.0))  # of the walls x, y, z, on the picture


def _minus(point: Point) -> Point:
    return -point[0], -point[1]


# Of the walls x, y, z on the picture, in edges from the middle of the cube: the corner at the lower left of who
# stands before the wall, then the ways to their right and up.
_P, _Q, _R = NORMALS
_RHOMBS = ((_P, _Q, _R), (_minus(_R), _minus(_P), _R), (_minus(_Q), _Q, _minus(_P)))


def _cube(spot: Spot) -> tuple[int, int, int]:
    """(p, q, r) of a tile."""
    x, y = spot
    return -y, x, y - x


def on_table(spot: Spot) -> Point:
    """Where the middle of a tile is, in edges of a cube."""
    shifts = list(zip(_cube(spot), NORMALS, strict=True))
    return sum(k * normal[0] for k, normal in shifts), sum(k * normal[1] for k, normal in shifts)


def facing(axis: int, spot: Spot) -> Point:
    """Where a tile is on the square grid of a perspective; the second number grows upwards."""
    p, q, r = _cube(spot)
    return ((q, r), (-p, r), (q, -p))[axis]


def hexagon(middle: Point, edge: float) -> list[Point]:
    """The outline of a cube."""
    return [around(*middle, edge, 30 + 60 * k) for k in range(6)]


def block(canvas: Canvas, middle: Point, edge: float, face: int) -> None:
    """A cube with three walls."""
    walls = int(FACE_WALLS[face])
    for axis, (corner, right, up) in enumerate(_RHOMBS):
        matrix = [edge / 100 * along for along in (*right, *up)]
        shift = (middle[0] + edge * corner[0], middle[1] + edge * corner[1])
        written = " ".join([f"{along:.4f}" for along in matrix] + [f"{at:.2f}" for at in shift])
        with canvas.group(transform=f"matrix({written})"):
            wall(canvas, (walls >> (8 * axis)) & 255, (walls >> (8 * axis + 24)) & 255, axis)


def wall(canvas: Canvas, colour: int, mark: int | None, axis: int | None = None) -> None:
    """A wall with what marks it, in a square of 100 by 100 that lies in the wall."""
    canvas.rect(0, 0, 100, 100, fill=PAINT[colour])
    shade = {0: None, 1: (INK, 0.1), 2: (WHITE, 0.14), None: None}[axis]
    if shade:
        canvas.rect(0, 0, 100, 100, fill=shade[0], fill_opacity=shade[1])
    canvas.rect(0, 0, 100, 100, fill="none", stroke=INK, stroke_width=4, stroke_linejoin="round")
    if mark is not None:
        indicator(canvas, 50, 50, 25, mark)


def indicator(canvas: Canvas, x: float, y: float, radius: float, mark: int) -> None:
    """An indicator: a black disc, a white one, a hollow square for void; half black and half white for one's own."""
    ring = 0.28 * radius
    if mark == BLACK:
        canvas.circle(x, y, radius, fill=INK, stroke=WHITE, stroke_width=0.2 * radius)
    elif mark == WHITE_MARK:
        canvas.circle(x, y, radius, fill=WHITE, stroke=INK, stroke_width=ring)
    elif mark == VOID:
        square = (x - 0.85 * radius, y - 0.85 * radius, 1.7 * radius, 1.7 * radius)
        canvas.rect(*square, fill="none", stroke=WHITE, stroke_width=2.2 * ring)
        canvas.rect(*square, fill="none", stroke=INK, stroke_width=ring)
    else:
        canvas.circle(x, y, radius, fill=WHITE, stroke=INK, stroke_width=ring)
        half = f"A{number(radius)} {number(radius)} 0 0 0"
        canvas.path(f"M{number(x)} {number(y - radius)}{half} {number(x)} {number(y + radius)}Z", fill=INK)


def axis_sign(canvas: Canvas, x: float, y: float, axis: int) -> None:
    """A little cube that shows which walls are meant."""
    for wall, (corner, right, up) in enumerate(_RHOMBS):
        ends = ((0, 0), right, (right[0] + up[0], right[1] + up[1]), up)
        points = [(x + 14 * (corner[0] + end[0]), y + 14 * (corner[1] + end[1])) for end in ends]
        fill = INK if wall == axis else WHITE
        canvas.polygon(points, fill=fill, stroke=INK, stroke_width=1.2, stroke_linejoin="round")
