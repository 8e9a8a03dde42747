from iszoo.envs.drawing import isaac, isis_osiris,iso
from iszoo.envs.drawing.position import Position
def svg(game,row,options,*,seat=None,last=None,overlay=None,size=600):
    p=Position(game,row,options,seat,last,overlay)
    m={'isaac':isaac,'isis_osiris':isis_osiris,'iso':iso}[game.name]
    return m.draw(p).to_svg(size, "x")
