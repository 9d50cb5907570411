/** Converts the result of an MCP tool into content blocks. */
import type { ResultContent } from '@steward/protocol/content.ts'
import type { ToolResult } from '../tool.ts'
import type { CallToolResult } from './connection.ts'

type McpBlock = CallToolResult['content'][number]
type McpResource = Extract<McpBlock, { type: 'resource' }>['resource']

/** Image types that models accept. `largestImage` counts characters of base64. */
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const largestImage = 7 * 1024 * 1024
const largestDocument = 32 * 1024 * 1024
const mostBlocks = 100

export function resultOf({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const blocks = content.slice(0, mostBlocks).map(blockOf)
  if (content.length > mostBlocks)
    blocks.push(text(`[${content.length - mostBlocks} more blocks left out]`))
  // Servers should repeat structured content as text. For a server that did not, the structured content is shown.
  if (blocks.length === 0 && structuredContent !== undefined)
    blocks.push(text(JSON.stringify(structuredContent, null, 2)))
  return { content: blocks, is_error: isError ?? false }
}

const text = (said: string): ResultContent => ({ type: 'text', text: said })

function blockOf(block: McpBlock): ResultContent {
  switch (block.type) {
    case 'text':
      return text(block.text)
    case 'image':
      return binary(block.mimeType, block.data, 'image')
    case 'audio':
      return binary(block.mimeType, block.data, 'audio')
    case 'resource_link': {
      const { uri, name, mimeType, description } = block
      const kind = mimeType ? ` (${mimeType})` : ''
      return text(`[resource ${name}${kind}: ${uri}]${description ? `\n${description}` : ''}`)
    }
    case 'resource':
      return resource(block.resource)
    default:
      block satisfies never
      return text('[a block of a kind that is not known here]')
  }
}

function resource(given: McpResource): ResultContent {
  if ('text' in given) return text(`[resource ${given.uri}]\n${given.text}`)
  return binary(given.mimeType ?? 'application/octet-stream', given.blob, `resource ${given.uri}`)
}

function binary(mimeType: string, given: string, what: string): ResultContent {
  const media_type = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const data = given.replaceAll(/\s/g, '')
  const isWhole = /^[A-Za-z0-9+/]*={0,2}$/.test(data) && data.length % 4 === 0 && data !== ''
  const source = { type: 'base64' as const, media_type, data }
  if (isWhole && imageTypes.has(media_type) && data.length <= largestImage)
    return { type: 'image', source }
  if (isWhole && media_type === 'application/pdf' && data.length <= largestDocument)
    return { type: 'document', source }
  const size = Math.floor((data.length * 3) / 4)
  return text(`[${what}: ${media_type || 'unknown type'}, ${size} bytes, cannot be shown]`)
}
