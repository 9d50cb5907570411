/** Mentions in Markdown. */

/** Patterns of texts that the author quotes, shows as code, or hides. A mention in these texts calls nobody. */
const hidden = /<!--[\s\S]*?(?:-->|$)/g
const codeBlock = /(```|~~~)[\s\S]*?(?:\1|$)/g
const code = /`[^`\n]*`/g
const quotation = /^[ \t]*>.*$/gm

const mention = /(?<![\w@./-])@([\w-]+)(?![\w/-])/g

/** True when the text begins with a mention of a person or a team. */
export const mentionsFirst = (text: string): boolean => /^\s*@[\w-]/.test(text)

/** True when the text mentions the login. Logins are compared without case. */
export function mentionsLogin(text: string, login: string): boolean {
  const own = [hidden, codeBlock, code, quotation].reduce(
    (left, pattern) => left.replaceAll(pattern, ' '),
    text,
  )
  const wanted = login.toLowerCase()
  return [...own.matchAll(mention)].some(([, name]) => name?.toLowerCase() === wanted)
}
