"""`iszoo serve`: a page on which people and agents play, and records are looked at. Needs the extra iszoo[serve].

`store` keeps tables in SQLite, `tables` plays on them, `views` says what a browser may know of one, `guard` turns
away what a web page has no business to ask, and `app` puts them behind addresses. The pages are in ../static.
"""
