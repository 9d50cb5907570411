/** Converts content blocks of the protocol into blocks of a model. */
import type { Message, UserBlock } from '@steward/model/model.ts'
import type { ResultContent, UserContent } from '@steward/protocol/content.ts'

/** A source whose bytes are not in the block. */
export type MediaSource = { type: 'url'; url: string } | { type: 'file'; file_id: string }

/** A block whose bytes must be loaded before a model can see it. */
export type RemoteMedia = {
  kind: 'image' | 'document'
  source: MediaSource
  title?: string
  context?: string
}

/** `data` is base64. `message` is shown to the model. */
export type MediaResult =
  | { ok: true; media_type: string; data: string }
  | { ok: false; message: string }
/** Must not reject: a failure is a value. */
export type LoadMedia = (wanted: Pick<RemoteMedia, 'kind' | 'source'>) => Promise<MediaResult>

/**
 * Puts a placeholder text in the place of blocks whose bytes must be loaded; `elsewhere` maps the text to the block.
 */
export function modelBlocks(
  content: readonly (UserContent | ResultContent)[],
  elsewhere: Map<UserBlock, RemoteMedia>,
): UserBlock[] {
  return content.map((block): UserBlock => {
    if (block.type === 'text') return { type: 'text', text: block.text }
    if (block.type === 'search_result') {
      const text = block.content.map((part) => part.text).join('\n')
      return { type: 'text', text: `${block.title}\n${block.source}\n${text}` }
    }
    const { type: kind, source } = block
    const named = block.type === 'document' ? namesOf(block) : {}
    if (source.type === 'url' || source.type === 'file') {
      const wanted: RemoteMedia = { kind, source, ...named }
      const note = absent(wanted, 'its content is not available')
      elsewhere.set(note, wanted)
      return note
    }
    const data =
      source.type === 'base64' ? source.data : Buffer.from(source.data).toString('base64')
    return { type: kind, media_type: source.media_type, data, ...named }
  })
}

function namesOf(block: {
  title?: string | null | undefined
  context?: string | null | undefined
}) {
  return {
    ...(block.title ? { title: block.title } : {}),
    ...(block.context ? { context: block.context } : {}),
  }
}

function absent({ kind, source }: RemoteMedia, why: string): UserBlock {
  const where = source.type === 'url' ? source.url : source.file_id
  return { type: 'text', text: `[${kind} ${where}: ${why}]` }
}

/** Loads each block once. A block that cannot be loaded becomes a text that says so. */
export async function loadAllMedia(
  elsewhere: ReadonlyMap<UserBlock, RemoteMedia>,
  bring: LoadMedia,
): Promise<Map<UserBlock, UserBlock>> {
  const brought = [...elsewhere].map(async ([note, wanted]) => {
    const { kind, source, ...named } = wanted
    const found = await bring({ kind, source })
    if (!found.ok) return [note, absent(wanted, found.message)] as const
    const { media_type, data } = found
    return [note, { type: kind, media_type, data, ...named } satisfies UserBlock] as const
  })
  return new Map(await Promise.all(brought))
}

/** Returns the message with its blocks replaced, or the same message when none is. */
export function withBlocks<M extends Message>(
  message: M,
  blocks: ReadonlyMap<UserBlock, UserBlock>,
): M {
  if (message.role !== 'user' && message.role !== 'tool_result') return message
  if (!message.content.some((block) => blocks.has(block))) return message
  return { ...message, content: message.content.map((block) => blocks.get(block) ?? block) }
}
