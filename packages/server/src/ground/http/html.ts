/** Markup of the pages that the service writes itself. */

/** Text that is HTML already. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

type HtmlPart = string | Html | readonly Html[]

const textOf = (part: HtmlPart): string => {
  if (typeof part === 'string') return part.replaceAll(/[&<>"']/g, (each) => escapes[each] ?? '')
  return part instanceof Html ? part.text : part.map(({ text }) => text).join('')
}

/** Escapes the parts between the texts, unless they are `Html`. */
export const html = (texts: TemplateStringsArray, ...parts: HtmlPart[]): Html =>
  new Html(texts.map((text, at) => text + textOf(parts[at] ?? '')).join(''))
