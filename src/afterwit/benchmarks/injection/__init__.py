"""Pages that hide an order to the model: does it change what is chosen for the user?"""
