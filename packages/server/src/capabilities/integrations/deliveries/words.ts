/** Words with which people answer a question, or end a turn. */

/** `code`: the code of the meant question, when several are open. */
export type Command = { kind: 'stop' } | { kind: 'answer'; result: 'allow' | 'deny'; code?: string }

const results: Readonly<Record<string, 'allow' | 'deny'>> = {
  allow: 'allow',
  approve: 'allow',
  deny: 'deny',
  reject: 'deny',
}

/** Returns undefined when the text contains anything besides the command and mentions. */
export function parseCommand(text: string): Command | undefined {
  const words = text
    .replaceAll(/<@[\w|.-]+>|(?<!\w)@[\w[\]-]+/g, ' ')
    .replaceAll(/[\s.!:,]+/g, ' ')
    .trim()
    .toLowerCase()
  if (words === 'stop') return { kind: 'stop' }
  const [, word = '', code] = /^([a-z]+)(?: (\w{6}))?$/.exec(words) ?? []
  const result = Object.hasOwn(results, word) ? results[word] : undefined
  return result && { kind: 'answer', result, ...(code !== undefined && { code }) }
}
