/** JSON pointers, RFC 6901. */

/** A pointer is empty, or consists of parts with a slash before each. `~0` is a tilde and `~1` a slash. */
const pointerForm = /^(?:\/(?:[^~/]|~[01])*)*$/

export const isJsonPointer = (text: string): boolean => pointerForm.test(text)

/**
 * Returns undefined when the document has no such value. Reads own properties only, so that `__proto__` and `length`
 * are no parts of a payload.
 */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value) && !/^(?:0|[1-9][0-9]*)$/.test(key)) return undefined
    const found = Object.getOwnPropertyDescriptor(value, key)
    if (!found) return undefined
    value = found.value
  }
  return value
}
