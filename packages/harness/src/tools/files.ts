import { z } from 'zod'
import type { Failed } from '@steward/sandbox/sandbox.ts'
import type { SandboxTool, ToolResult } from './tool.ts'
import { textResult } from './tool.ts'

/** Bytes of one read, and of a file that may be edited. contract.md 4.7 */
const largestRead = 256 * 1024
const largestEdit = 10 * 1024 * 1024
const roots = ['/workspace', '/mnt/session/outputs', '/home/user', '/tmp']

const path = { type: 'string', description: 'an absolute path, or one below /workspace' } as const

/** The absolute path without `.` and `..`, or why it is outside of what the file tools reach. */
export function confined(given: string): { path: string } | { refused: ToolResult } {
  const parts: string[] = []
  for (const part of (given.startsWith('/') ? given : `/workspace/${given}`).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const absolute = `/${parts.join('/')}`
  if (roots.some((root) => absolute === root || absolute.startsWith(`${root}/`)))
    return { path: absolute }
  return {
    refused: textResult(
      `${given}: file tools reach ${roots.join(', ')} only; use bash for other places`,
      true,
    ),
  }
}

export const failed = (file: string, { code, message }: Failed): ToolResult =>
  textResult(code === 'not_found' ? `${file} does not exist` : `${file}: ${message}`, true)

const decoder = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    // Not UTF-8; the caller says so in terms of the file.
    return undefined
  }
}

const ReadInput = z.object({
  file_path: z.string(),
  view_range: z.tuple([z.number(), z.number()]).optional(),
})

export const readTool: SandboxTool = {
  name: 'read',
  description:
    'Reads a UTF-8 text file. `view_range` [first, last] picks lines, counted from 1, both included; a last line of 0 or less means to the end. Files above 256 KiB need a range.',
  input_schema: {
    type: 'object',
    properties: {
      file_path: path,
      view_range: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 },
    },
    required: ['file_path'],
  },
  repeat: 'safe',
  async run(sandbox, input) {
    const { file_path, view_range } = ReadInput.parse(input)
    const place = confined(file_path)
    if ('refused' in place) return place.refused
    const maxBytes = view_range ? largestEdit : largestRead
    const file = await sandbox.read(place.path, { offset: 0, maxBytes })
    if (!file.ok) return failed(file_path, file)
    if (!view_range && file.size > largestRead) {
      return textResult(
        `${file_path} has ${file.size} bytes, more than ${largestRead}: give a view_range`,
        true,
      )
    }
    const text = decode(file.bytes)
    if (text === undefined)
      return textResult(`${file_path} is not UTF-8 text; look at it with bash`, true)
    return textResult(view_range ? lines(text, view_range) : text || '(empty file)')
  },
}

function lines(text: string, [first, last]: [number, number]): string {
  const picked = text.split('\n').slice(Math.max(first - 1, 0), last <= 0 ? undefined : last)
  let bytes = 0
  const shown = picked.filter((line) => (bytes += Buffer.byteLength(line) + 1) <= largestRead)
  const cut = shown.length < picked.length ? `\n[cut at ${largestRead} bytes]` : ''
  return shown.join('\n') + cut
}

const WriteInput = z.object({ file_path: z.string(), content: z.string() })

export const writeTool: SandboxTool = {
  name: 'write',
  description: 'Writes a file, in place of what was there. Folders above it are made.',
  input_schema: {
    type: 'object',
    properties: { file_path: path, content: { type: 'string' } },
    required: ['file_path', 'content'],
  },
  repeat: 'never',
  async run(sandbox, input) {
    const { file_path, content } = WriteInput.parse(input)
    const place = confined(file_path)
    if ('refused' in place) return place.refused
    const bytes = Buffer.from(content)
    const written = await sandbox.write(place.path, bytes)
    return written.ok
      ? textResult(`wrote ${bytes.length} bytes to ${file_path}`)
      : failed(file_path, written)
  },
}

const EditInput = z.object({
  file_path: z.string(),
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
})

export const editTool: SandboxTool = {
  name: 'edit',
  description:
    'Replaces `old_string` by `new_string` in a file. It must stand there exactly once, unless `replace_all` is true.',
  input_schema: {
    type: 'object',
    properties: {
      file_path: path,
      old_string: { type: 'string', minLength: 1 },
      new_string: { type: 'string' },
      replace_all: { type: 'boolean' },
    },
    required: ['file_path', 'old_string', 'new_string'],
  },
  repeat: 'never',
  async run(sandbox, input) {
    const { file_path, old_string, new_string, replace_all } = EditInput.parse(input)
    const place = confined(file_path)
    if ('refused' in place) return place.refused
    const file = await sandbox.read(place.path, { offset: 0, maxBytes: largestEdit })
    if (!file.ok) return failed(file_path, file)
    if (file.size > largestEdit)
      return textResult(`${file_path} is too large to edit: ${file.size} bytes`, true)
    const text = decode(file.bytes)
    if (text === undefined) return textResult(`${file_path} is not UTF-8 text`, true)
    const count = text.split(old_string).length - 1
    if (count === 0) return textResult(`old_string does not stand in ${file_path}`, true)
    if (count > 1 && !replace_all) {
      return textResult(
        `old_string stands ${count} times in ${file_path}: make it longer, or set replace_all`,
        true,
      )
    }
    const written = await sandbox.write(
      place.path,
      Buffer.from(text.split(old_string).join(new_string)),
    )
    if (!written.ok) return failed(file_path, written)
    return textResult(`replaced ${count} ${count === 1 ? 'place' : 'places'} in ${file_path}`)
  },
}
