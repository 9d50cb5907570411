/** Bounds of JSON that strangers send. */

/** Deepest nesting of objects and lists: code that walks a deeper value would run out of stack. */
export const deepestJson = 256

/**
 * Longest name of a member, in bytes or characters. Attack: texts of 16,384 characters and more have a hash of their
 * length alone, so the parser compares each such name with all others, which takes half a minute for 32 MiB.
 */
export const longestJsonName = 8 * 1024
