/**
 * What LIKE, with `!` as its escape, is to find: the text in small letters of ASCII. Databases know small and capital
 * letters of ASCII alone: another letter stands for any character.
 */
export const toLikePattern = (text: string): string =>
  text
    .replaceAll(/[%_!]/g, '!$&')
    .replaceAll(/[^\0-\x7f]/gu, (letter) => (hasCase(letter) ? '_' : letter))
    .toLowerCase()

/** The text as JSON writes it within quotes. */
export const likeInJson = (text: string): string => toLikePattern(JSON.stringify(text).slice(1, -1))

const hasCase = (letter: string): boolean => letter.toLowerCase() !== letter.toUpperCase()
