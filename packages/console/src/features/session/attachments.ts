/** Files that somebody gives the agent with a message: they are in the session before the message is sent. */
import { useState } from 'react'
import type { FileMetadata } from '../../lib/api/types.ts'
import { api } from '../../lib/api/client.ts'
import { uploadFile } from '../../lib/api/upload.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'

type ChosenFile = {
  key: number
  name: string
  /** How much of it is there, 0 to 1. */
  share: number
  file: FileMetadata | undefined
  problem: string | undefined
  /** Stops what is still on its way. */
  ends: AbortController
}

const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const pdf = 'application/pdf'

let count = 0

const drop = (id: string): void =>
  void api
    .DELETE('/v1/files/{id}', { params: { path: { id } } })
    .catch(({ message }: Error) => say({ kind: 'failed', text: message }))

export function useAttachments(session: string) {
  const [all, setAll] = useState<readonly ChosenFile[]>([])
  const change = (key: number, part: Partial<ChosenFile>) =>
    setAll((now) => now.map((each) => (each.key === key ? { ...each, ...part } : each)))
  const add = (files: Iterable<File>) => {
    for (const file of files) {
      const key = ++count
      const ends = new AbortController()
      const begun = { key, name: file.name, share: 0, file: undefined, problem: undefined, ends }
      setAll((now) => [...now, begun])
      uploadFile(file, {
        session,
        signal: ends.signal,
        onProgress: (share) => change(key, { share }),
      }).then(
        (uploaded) => {
          if (ends.signal.aborted) drop(uploaded.id)
          else change(key, { file: uploaded, share: 1 })
        },
        (error: unknown) =>
          change(key, { problem: error instanceof Error ? error.message : String(error) }),
      )
    }
  }
  /** The session has it no more: what was taken back is not the agent's. */
  const remove = (key: number) => {
    const taken = all.find((each) => each.key === key)
    taken?.ends.abort()
    if (taken?.file) drop(taken.file.id)
    setAll((now) => now.filter((each) => each.key !== key))
  }
  const forget = (sent: readonly ChosenFile[]) =>
    setAll((now) => now.filter((each) => !sent.includes(each)))
  return { all, add, remove, forget }
}

export const isUploading = ({ file, problem }: ChosenFile): boolean =>
  file === undefined && problem === undefined

type GivenContent =
  | { type: 'text'; text: string }
  | { type: 'image' | 'document'; source: { type: 'file'; file_id: string } }

/** The content of a message: what was written, where its files lie, and those that a model can look at. */
export function contentOf(text: string, attachments: readonly ChosenFile[]): GivenContent[] {
  const files = attachments.flatMap(({ file }) => file ?? [])
  const places = files.map(({ id, filename }) => `- /home/user/files/${id}/${filename}`)
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...(files.length === 0
      ? []
      : [{ type: 'text' as const, text: [words.session.attached, ...places].join('\n') }]),
    ...files.flatMap(({ id, mime_type: kind }): GivenContent[] => {
      const source = { type: 'file' as const, file_id: id }
      if (pictures.has(kind)) return [{ type: 'image', source }]
      return kind === pdf ? [{ type: 'document', source }] : []
    }),
  ]
}
