/** Passes on the body. Throws `tooLarge()` at the piece that exceeds `largest` bytes. */
export async function* limitBytes<Piece extends Uint8Array>(
  body: AsyncIterable<Piece>,
  largest: number,
  tooLarge: () => Error,
): AsyncGenerator<Piece> {
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.byteLength
    if (bytes > largest) throw tooLarge()
    yield piece
  }
}
