"""What iszoo measures about its speed."""
