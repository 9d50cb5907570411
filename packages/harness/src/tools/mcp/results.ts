/** Converts the result of an MCP tool into content blocks, as far as it can be read. Never throws. */
import type { ResultContent } from '@steward/protocol/content.ts'
import type { ToolResult } from '../tool.ts'
import { isObject } from './fit-message.ts'
import type { JsonMembers } from './fit-message.ts'

/** Image types that models accept. `largestImage` counts characters of base64. */
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const largestImage = 7 * 1024 * 1024
const largestDocument = 32 * 1024 * 1024
const mostBlocks = 100
const longestWord = 80

/** `given`: the result as the server sent it. */
export function readMcpResult(given: JsonMembers): ToolResult {
  const { structuredContent, isError } = given
  const content = blocksOf(given)
  const blocks = content.slice(0, mostBlocks).map(blockOf)
  if (content.length > mostBlocks)
    blocks.push(text(`[${content.length - mostBlocks} more blocks left out]`))
  // Servers should repeat structured content as text. For a server that did not, the structured content is shown.
  if (blocks.length === 0 && structuredContent !== undefined && structuredContent !== null)
    blocks.push(text(JSON.stringify(structuredContent, null, 2)))
  return { content: blocks, is_error: isError === true || isError === 'true' }
}

function blocksOf({ content, toolResult }: JsonMembers): unknown[] {
  if (Array.isArray(content)) return content
  if (content !== undefined && content !== null) return [content]
  // The first revision of the protocol had the whole result here.
  return toolResult === undefined || toolResult === null ? [] : [asText(toolResult)]
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2)

const text = (said: string): ResultContent => ({ type: 'text', text: said })
const word = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const readers: Record<string, (block: JsonMembers) => ResultContent | undefined> = {
  text: ({ text: said }) => (said === undefined || said === null ? undefined : text(asText(said))),
  image: (block) => binary(block['mimeType'], block['data'], 'image'),
  audio: (block) => binary(block['mimeType'], block['data'], 'audio'),
  resource_link: link,
  resource: ({ resource }) => (isObject(resource) ? resourceOf(resource) : undefined),
}

function blockOf(block: unknown): ResultContent {
  if (typeof block === 'string') return text(block)
  if (!isObject(block)) return text(`[a block left out: it is no object]`)
  const kind = word(block['type'])
  const read = kind !== undefined && Object.hasOwn(readers, kind) ? readers[kind] : undefined
  const found = read?.(block)
  if (found) return found
  // A kind that is not known may still say something.
  if (!read && typeof block['text'] === 'string') return text(block['text'])
  const named = kind === undefined ? 'without a type' : `of type ${JSON.stringify(short(kind))}`
  return text(`[a block ${named} left out: ${read ? 'it holds nothing' : 'it cannot be shown'}]`)
}

const short = (said: string): string => said.slice(0, longestWord)

function link({ uri, name, mimeType, description }: JsonMembers): ResultContent | undefined {
  const at = word(uri)
  if (at === undefined) return undefined
  const kind = word(mimeType) ? ` (${word(mimeType)})` : ''
  const said = word(description) ? `\n${word(description)}` : ''
  return text(`[resource ${word(name) ?? ''}${kind}: ${at}]${said}`)
}

function resourceOf(given: JsonMembers): ResultContent | undefined {
  const uri = word(given['uri']) ?? 'without a URI'
  if (typeof given['text'] === 'string') return text(`[resource ${uri}]\n${given['text']}`)
  if (typeof given['blob'] !== 'string') return undefined
  return binary(given['mimeType'] ?? 'application/octet-stream', given['blob'], `resource ${uri}`)
}

const dataUrl = /^data:([^;,]*)(?:;[^;,]*)*?;base64,/i

function binary(mimeType: unknown, given: unknown, what: string): ResultContent | undefined {
  if (typeof given !== 'string') return undefined
  const head = dataUrl.exec(given.slice(0, 256))
  const media_type = mediaTypeOf(word(mimeType) ?? head?.[1] ?? '')
  const data = base64Of(head ? given.slice(head[0].length) : given)
  const isWhole = /^[A-Za-z0-9+/]*={0,2}$/.test(data) && data.length % 4 === 0 && data !== ''
  const source = { type: 'base64' as const, media_type, data }
  if (isWhole && imageTypes.has(media_type) && data.length <= largestImage)
    return { type: 'image', source }
  if (isWhole && media_type === 'application/pdf' && data.length <= largestDocument)
    return { type: 'document', source }
  const size = Math.floor((data.length * 3) / 4)
  return text(`[${what}: ${media_type || 'unknown type'}, ${size} bytes, cannot be shown]`)
}

const mediaTypeOf = (given: string): string => given.split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** The usual alphabet, with the padding that some servers leave out. */
function base64Of(given: string): string {
  const data = given.replaceAll(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/')
  const isOpen = !data.includes('=') && data.length % 4 > 1
  return isOpen ? data.padEnd(Math.ceil(data.length / 4) * 4, '=') : data
}
