/** Single words by which people answer a question, or end a turn. */

export type Command = 'allow' | 'deny' | 'stop'

const commands: Readonly<Record<string, Command>> = {
  allow: 'allow',
  approve: 'allow',
  deny: 'deny',
  reject: 'deny',
  stop: 'stop',
}

/** Of a text that is nothing else, beside mentions. */
export function commandOf(text: string): Command | undefined {
  const words = text
    .replaceAll(/<@[\w|.-]+>|(?<!\w)@[\w[\]-]+/g, ' ')
    .replaceAll(/[\s.!:,]+/g, ' ')
    .trim()
    .toLowerCase()
  return Object.hasOwn(commands, words) ? commands[words] : undefined
}
