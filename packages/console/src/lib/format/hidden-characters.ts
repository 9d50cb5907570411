/**
 * Attack: a command whose text shows other than it runs, by characters that have no width or turn the direction of
 * what follows. A person who approves it has to see them.
 */

/** Ranges of code points that a page does not show: controls, fillers, joiners, directions, selectors, tags. */
const hidden: readonly [first: number, last: number][] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe0fff],
]

const isHidden = (code: number): boolean =>
  hidden.some(([first, last]) => code >= first && code <= last)

export type TextPart = { text: string; isHidden: boolean }

const named = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`

/** The text in parts; a hidden character is a part of its own, named by its code. */
export function partsWithHidden(text: string): TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  let at = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (isHidden(code)) {
      if (at > from) parts.push({ text: text.slice(from, at), isHidden: false })
      parts.push({ text: named(code), isHidden: true })
      from = at + character.length
    }
    at += character.length
  }
  if (from < text.length) parts.push({ text: text.slice(from), isHidden: false })
  return parts
}
