/** Turns a fetched page into a result, by its type and its first bytes. */
import type { ToolResult } from '../tool.ts'
import { textResult } from '../tool.ts'
import type { WebAccess } from '../egress.ts'
import { decodeText } from './charset.ts'
import type { Conversion, ConvertedPage } from './converter.ts'
import { convertPage } from './converter.ts'
import { toPicture, detectShape } from './shape.ts'

type PageReading = Pick<WebAccess, 'conversionSlot'> & { signal: AbortSignal }
type WebPage = { url: URL; status: number; type: string; bytes: Buffer; isWhole: boolean }

/** Characters for a token, roughly. */
const tokenCharacters = 4
const shownOfError = 2_000

export async function showPage(
  page: WebPage,
  { max_content_tokens }: { max_content_tokens?: number | null | undefined },
  reading: PageReading,
): Promise<ToolResult> {
  const { url, status, bytes, isWhole } = page
  const shape = detectShape(page)
  if (status >= 400) {
    const said = shape?.kind === 'text' ? decodeText(bytes, page.type).slice(0, shownOfError) : ''
    return textResult(`url_not_accessible: ${url.href} answered ${status}\n${said}`.trim(), true)
  }
  if (!shape) return textResult(`unsupported_content_type: ${page.type || 'none was given'}`, true)
  if (shape.kind === 'image') return pictured(shape.media_type, page)
  if (shape.kind === 'pdf' && !isWhole)
    return textResult(`unsupported_content_type: a PDF of more than ${bytes.length} bytes`, true)
  const read = await textOf(shape.kind, page, reading)
  if (!read) return textResult(`unavailable: ${url.href} could not be read as ${shape.kind}`, true)
  const most = max_content_tokens ? max_content_tokens * tokenCharacters : Infinity
  const text = read.text.trim()
  const notes = [
    ...(text.length > most ? [`[cut after ${max_content_tokens} tokens]`] : []),
    ...(isWhole ? [] : [`[of a page larger than ${bytes.length} bytes only the beginning]`]),
  ]
  const head = [read.title, url.href].filter((line) => line !== '').join('\n')
  return textResult([head, text.slice(0, most).toWellFormed(), ...notes].join('\n\n').trimEnd())
}

async function textOf(
  kind: 'html' | 'pdf' | 'text',
  { bytes, type, url }: WebPage,
  { conversionSlot, signal }: PageReading,
): Promise<ConvertedPage | undefined> {
  const convertInSlot = async (conversion: Conversion) => {
    const leave = await conversionSlot(signal)
    try {
      return await convertPage(conversion, signal)
    } finally {
      leave()
    }
  }
  if (kind === 'pdf') return convertInSlot({ kind, bytes })
  const text = decodeText(bytes, type)
  if (kind === 'text') return { title: '', text }
  const page = { html: text, url: url.href }
  return (await convertInSlot({ kind, ...page })) ?? convertInSlot({ kind: 'bare', ...page })
}

function pictured(media_type: string, page: WebPage): ToolResult {
  const picture = toPicture(media_type, page)
  return picture
    ? { content: [{ type: 'text', text: page.url.href }, picture], is_error: false }
    : textResult(`unsupported_content_type: the picture is too large to be shown`, true)
}
