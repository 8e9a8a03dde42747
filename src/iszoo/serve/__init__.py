"""`iszoo serve`: a page on which people and agents play, and records are looked at. Needs the extra iszoo[serve].

`store` keeps tables in SQLite, `tables` plays on them, `checks` says what may be asked for and `views` what a browser
may know of a table, `guard` turns away what a web page has no business to ask, and `app` puts them behind addresses.
The pages are in ../static.
"""
