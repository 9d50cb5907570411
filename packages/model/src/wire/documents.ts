/**
 * Documents in requests. The library has no document block, so a document passes through it as a marker text and is put
 * into the finished payload in the wire's form.
 */
import { randomUUID } from 'node:crypto'
import type { DocumentBlock } from '../model.ts'
import type { ModelWire } from '../spec.ts'

/** A JSON object in a request body. */
export type JsonObject = Record<string, unknown>

export type Documents = {
  /** The texts that stand for a document: its own text, a marker, or a note that the model cannot read it. */
  place(document: DocumentBlock): string[]
  /** Replaces the markers in the payload. */
  fill(wire: ModelWire, payload: JsonObject): void
}

type DocumentPiece = string | DocumentBlock

export function documentSet(readable: boolean): Documents {
  const kept: DocumentBlock[] = []
  const nonce = randomUUID()
  const marker = new RegExp(`\\[${nonce}:(\\d+)\\]`)

  const split = (text: unknown): DocumentPiece[] => {
    if (typeof text !== 'string' || !text.includes(nonce)) return []
    return text
      .split(marker)
      .map((piece, i) => (i % 2 === 0 ? piece.replace(/^\n|\n$/g, '') : kept[Number(piece)]))
      .filter((piece): piece is DocumentPiece => piece !== undefined && piece !== '')
  }

  return {
    place(document) {
      if (isText(document.media_type)) return [asText(document)]
      if (!readable || document.media_type !== 'application/pdf') {
        return [`[${nameOf(document)} is left out: the model cannot read ${document.media_type}]`]
      }
      const context = document.context === undefined ? [] : [document.context]
      return [...context, `[${nonce}:${kept.push(document) - 1}]`]
    },
    fill(wire, payload) {
      if (kept.length > 0) fillers[wire](payload, split)
    },
  }
}

function isText(mediaType: string): boolean {
  return /^text\/|[/+](json|xml|yaml|x-yaml|javascript|toml)$/.test(mediaType.split(';')[0] ?? '')
}

function asText(document: DocumentBlock): string {
  const text = Buffer.from(document.data, 'base64').toString('utf8')
  const context = document.context === undefined ? '' : `${document.context}\n`
  return `${context}<document name="${nameOf(document)}">\n${text}\n</document>`
}

function nameOf(document: DocumentBlock): string {
  return document.title ?? (document.media_type === 'application/pdf' ? 'document.pdf' : 'document')
}

const dataUrl = (document: DocumentBlock) => `data:${document.media_type};base64,${document.data}`
const follows = (document: DocumentBlock) => `[${nameOf(document)} follows]`

type SplitText = (text: unknown) => DocumentPiece[]

const fillers: Record<ModelWire, (payload: JsonObject, split: SplitText) => void> = {
  'anthropic-messages': (payload, split) => {
    const block = (piece: DocumentPiece): JsonObject =>
      typeof piece === 'string'
        ? { type: 'text', text: piece }
        : {
            type: 'document',
            source: { type: 'base64', media_type: piece.media_type, data: piece.data },
            ...(piece.title !== undefined && { title: piece.title }),
          }
    for (const message of toItems(payload.messages)) {
      for (const result of toItems(message.content)) {
        if (result.type !== 'tool_result') continue
        const pieces = split(result.content)
        if (pieces.length > 0) result.content = pieces.map(block)
        else replaceTexts(result.content, split, block)
      }
      replaceTexts(message.content, split, block)
    }
  },

  'openai-completions': (payload, split) => {
    const part = (piece: DocumentPiece): JsonObject =>
      typeof piece === 'string'
        ? { type: 'text', text: piece }
        : { type: 'file', file: { filename: nameOf(piece), file_data: dataUrl(piece) } }
    const messages = toItems(payload.messages)
    const out: JsonObject[] = []
    let pending: JsonObject[] = []
    for (const message of messages) {
      if (message.role !== 'tool' && pending.length > 0) {
        out.push({ role: 'user', content: pending })
        pending = []
      }
      if (message.role === 'tool') {
        const pieces = split(message.content)
        if (pieces.length > 0) {
          message.content = pieces.map((p) => (typeof p === 'string' ? p : follows(p))).join('\n')
          pending.push(...pieces.filter((piece) => typeof piece !== 'string').map(part))
        }
      } else replaceTexts(message.content, split, part)
      out.push(message)
    }
    if (pending.length > 0) out.push({ role: 'user', content: pending })
    payload.messages = out
  },

  'openai-responses': (payload, split) => {
    const part = (piece: DocumentPiece): JsonObject =>
      typeof piece === 'string'
        ? { type: 'input_text', text: piece }
        : { type: 'input_file', filename: nameOf(piece), file_data: dataUrl(piece) }
    for (const item of toItems(payload.input)) {
      const pieces = split(item.output)
      if (pieces.length > 0) item.output = pieces.map(part)
      else replaceTexts(item.output, split, part)
      replaceTexts(item.content, split, part)
    }
  },

  'google-generative-ai': (payload, split) => {
    const part = (piece: DocumentPiece): JsonObject =>
      typeof piece === 'string'
        ? { text: piece }
        : { inlineData: { mimeType: piece.media_type, data: piece.data } }
    const nested = !/^gemini-[12]/.test(String(payload.model))
    const out: JsonObject[] = []
    for (const content of toItems(payload.contents)) {
      replaceTexts(content.parts, split, part)
      out.push(content)
      const found = toItems(content.parts).flatMap((p) => fillResponse(p, split, nested))
      if (found.length > 0) out.push({ role: 'user', parts: found.map(part) })
    }
    payload.contents = out
  },
}

/** Returns documents that need a turn of their own, because the model accepts no files in a response. */
function fillResponse(part: JsonObject, split: SplitText, nested: boolean): DocumentBlock[] {
  const response = part.functionResponse
  if (!isItem(response) || !isItem(response.response)) return []
  const found: DocumentBlock[] = []
  for (const [key, value] of Object.entries(response.response)) {
    const pieces = split(value)
    if (pieces.length === 0) continue
    response.response[key] = pieces.map((p) => (typeof p === 'string' ? p : follows(p))).join('\n')
    found.push(...pieces.filter((piece) => typeof piece !== 'string'))
  }
  if (!nested) return found
  const parts = found.map((d) => ({ inlineData: { mimeType: d.media_type, data: d.data } }))
  if (parts.length > 0) response.parts = [...toItems(response.parts), ...parts]
  return []
}

/** Keeps a cache breakpoint on the marker's block. */
function replaceTexts(
  content: unknown,
  split: SplitText,
  make: (piece: DocumentPiece) => JsonObject,
): void {
  if (!Array.isArray(content)) return
  for (let i = content.length - 1; i >= 0; i--) {
    const block: unknown = content[i]
    if (!isItem(block)) continue
    const pieces = split(block.text)
    if (pieces.length === 0) continue
    const made = pieces.map(make)
    const last = made.at(-1)
    if (last !== undefined && block.cache_control !== undefined) {
      last.cache_control = block.cache_control
    }
    content.splice(i, 1, ...made)
  }
}

function isItem(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The objects of a list in a request body; empty when the value is no list. */
export function toItems(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isItem) : []
}
