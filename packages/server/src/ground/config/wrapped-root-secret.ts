/** The text of a wrapped root secret in the settings: a mark, and what the key service has given. */

export const rootSecretForm = /^.{16,}$/s

const mark = 'wrapped.v1.'

export const wrappedRootSecret = {
  write: (wrapped: string): string => mark + Buffer.from(wrapped).toString('base64url'),
  /** Undefined: the text is the secret itself. */
  read: (text: string): string | undefined =>
    text.startsWith(mark)
      ? Buffer.from(text.slice(mark.length), 'base64url').toString('utf8')
      : undefined,
}
