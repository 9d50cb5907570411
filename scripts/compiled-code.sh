# Read by the shell that starts a program: Node keeps its compiled code in the checkout. Its own folder would be below
# /tmp, where another account could put code.
NODE_COMPILE_CACHE=${NODE_COMPILE_CACHE-$PWD/node_modules/.cache/compiled}
export NODE_COMPILE_CACHE
