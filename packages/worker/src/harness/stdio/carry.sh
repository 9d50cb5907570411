# One HTTP/1.1 exchange with a program on loopback. Sends the file $2 to port $1, and writes to $3 what is answered, $4
# bytes at most: up to the end that its length or its chunks tell, as servers may leave the connection open behind it, or
# else to the end of the connection. Exit 7: nobody listens; 8: it is too large.
umask 077
LC_ALL=C
left=$4
take() {
  (( (left -= $1) >= 0 )) || exit 8
  IFS= read -r -N "$1" piece <&3
  printf %s "$piece"
  (( ${#piece} == $1 )) || exit 0
}
line() {
  IFS= read -r line <&3 || exit 0
  printf '%s\n' "$line"
  line=${line%$'\r'}
  (( (left -= ${#line} + 2) >= 0 )) || exit 8
}
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 7
cat -- "$2" >&3 &
exec >"$3"
line
size=
[[ $line =~ ^HTTP/1\.[01]\ (204|304)\  ]] && size=0
while line; [ -n "$line" ]; do
  case ${line,,} in
    content-length:*) size=${line#*:} size=${size//[^0-9]/} ;;
    transfer-encoding:*chunked*) chunked=1 ;;
  esac
done
if [ -n "$chunked" ]; then
  while line; [[ $line =~ ^0*([0-9a-fA-F]{0,8})[[:space:]]*(\;.*)?$ ]]; do
    [ -n "${BASH_REMATCH[1]}" ] || break
    take $((16#${BASH_REMATCH[1]} + 2))
  done
  while line; [ -n "$line" ]; do :; done
elif [ -n "$size" ]; then
  take $((10#$size))
else
  head -c "$((left + 1))" <&3
fi
