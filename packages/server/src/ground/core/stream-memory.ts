/**
 * Memory of pieces of a stream, given back when they are used up. The collector alone would let 64 MB of them gather
 * again and again, and look through the whole heap each time.
 */

/** Whether the memory is this piece's and no other's. */
export const ownsMemory = (piece: Uint8Array): boolean =>
  piece.byteLength > 0 && piece.byteLength === piece.buffer.byteLength

/** Whoever still looks at the memory sees nothing of it from now on. */
export function freeMemory(memory: ArrayBufferLike): void {
  if (memory instanceof ArrayBuffer) memory.transfer(0)
}

/** Views of what is `alone` somewhere, in its order: when one of other memory is asked for, the last is used up. */
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
