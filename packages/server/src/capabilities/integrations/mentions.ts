/** Mentions in Markdown. */

/** Texts that the author repeats, shows as code, or hides: a mention in them calls nobody. */
const hidden = /<!--[\s\S]*?(?:-->|$)/g
const codeBlock = /(```|~~~)[\s\S]*?(?:\1|$)/g
const code = /`[^`\n]*`/g
const quotation = /^[ \t]*>.*$/gm

const mention = /(?<![\w@./-])@([\w-]+)(?![\w/-])/g

/** Whether the text speaks to the login, which has no case. */
export function mentions(text: string, login: string): boolean {
  const own = [hidden, codeBlock, code, quotation].reduce(
    (left, pattern) => left.replaceAll(pattern, ' '),
    text,
  )
  const wanted = login.toLowerCase()
  return [...own.matchAll(mention)].some(([, name]) => name?.toLowerCase() === wanted)
}
