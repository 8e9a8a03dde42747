"""What ladders and statistics are made of: workers, kept games, ratings, standings, pages, plots."""
