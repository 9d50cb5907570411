/**
 * A text that grows by many small pieces and is passed on while it grows. The sum is built once: a slice of the sum at
 * each piece would copy the whole text, and keep each copy alive for as long as the slice is.
 */
export type GrowingText = ReturnType<typeof growingText>

export function growingText() {
  const pieces: string[] = []
  let news: string[] = []
  /** The first half of a surrogate pair, whose second half may come with the next piece. */
  let half = ''
  return {
    add(piece: string): void {
      let text = half + piece
      half = isFirstHalf(text.charCodeAt(text.length - 1)) ? text.slice(-1) : ''
      if (half !== '') text = text.slice(0, -1)
      if (text === '') return
      const wellFormed = text.toWellFormed()
      pieces.push(wellFormed)
      news.push(wellFormed)
    },
    /** What came since the last call. `isOver`: nothing more comes. */
    takeNews(isOver: boolean): string {
      if (isOver && half !== '') {
        half = ''
        pieces.push(replacement)
        news.push(replacement)
      }
      const taken = news.length === 1 ? (news[0] ?? '') : news.join('')
      if (news.length > 0) news = []
      return taken
    },
    whole: () => pieces.join(''),
  }
}

const replacement = '\ufffd'
const isFirstHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
