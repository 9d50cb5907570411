/** Converts one page in a thread of its own, because a parser may use much time or memory on a hostile page. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Conversion, ConvertedPage } from './converter.ts'

async function converted(page: Conversion): Promise<ConvertedPage> {
  if (page.kind === 'pdf') return ofPdf(page.bytes)
  return page.kind === 'html' ? ofHtml(page.html, page.url) : bare(page.html)
}

const left = [
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'canvas',
  'head',
]

async function ofHtml(html: string, url: string): Promise<ConvertedPage> {
  const { NodeHtmlMarkdown } = await import('node-html-markdown')
  const markdown = NodeHtmlMarkdown.translate(html, { ignore: left })
  const title = /<title[^>]*>([^<]{0,1000})/i.exec(html)?.[1]
  const named = title === undefined ? '' : NodeHtmlMarkdown.translate(title)
  return { title: named.replaceAll(/\s+/g, ' ').trim(), text: withWholeLinks(markdown, url) }
}

/** Makes relative links absolute, because the model reads the text without the page's URL. */
const withWholeLinks = (markdown: string, url: string): string =>
  markdown.replaceAll(/\]\((?![a-z][a-z\d+.-]*:|#)([^)\s]{1,2000})/gi, (link, path: string) => {
    const whole = URL.parse(path, url)
    return whole ? `](${whole.href}` : link
  })

/** The text alone, in one pass, whatever the page contains. */
function bare(html: string): ConvertedPage {
  const parts: string[] = []
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    parts.push(html.slice(at, open === -1 ? undefined : open))
    if (open === -1) break
    const hidden = /^<(script|style)\b/i.exec(html.slice(open, open + 8))?.[1]
    const close = html.indexOf(hidden ? `</${hidden}` : '>', open)
    if (close === -1) break
    at = hidden ? close : close + 1
  }
  return {
    title: '',
    text: parts
      .join(' ')
      .replaceAll(/[ \t\r]+/g, ' ')
      .replaceAll(/\n[ \n]*/g, '\n'),
  }
}

async function ofPdf(bytes: Uint8Array): Promise<ConvertedPage> {
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf')
  const document = await getDocumentProxy(bytes, { verbosity: 0 })
  const { text } = await extractText(document, { mergePages: false })
  const { info } = await getMeta(document)
  const title: unknown = info.Title
  return {
    title: typeof title === 'string' ? title.trim() : '',
    text: text.map((page, index) => `[page ${index + 1}]\n${page}`).join('\n\n'),
  }
}

parentPort?.postMessage(await converted(workerData as Conversion))
