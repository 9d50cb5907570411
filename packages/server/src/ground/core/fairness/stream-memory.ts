/**
 * Frees the memory of a stream's pieces as soon as they are used. Otherwise 64 MB of pieces gather before each garbage
 * collection, which then walks the whole heap.
 */

/** True when no other view shares the memory of the piece. */
export const ownsMemory = (piece: Uint8Array): boolean =>
  piece.byteLength > 0 && piece.byteLength === piece.buffer.byteLength

/** Frees the memory. Views of it have the length 0 afterwards. */
export function freeMemory(memory: ArrayBufferLike): void {
  if (memory instanceof ArrayBuffer) memory.transfer(0)
}

/** Passes on views. Frees memory that is in `alone` when the reader requests a view of other memory. */
export async function* freeUsedViews(
  views: AsyncIterable<Uint8Array>,
  alone: WeakSet<ArrayBufferLike>,
): AsyncGenerator<Uint8Array> {
  let last: ArrayBufferLike | undefined
  for await (const view of views) {
    if (last && last !== view.buffer && alone.delete(last)) freeMemory(last)
    last = view.buffer
    yield view
  }
}
