/** Files on their way to the service, one after another. */
import { useCallback, useState } from 'react'
import { uploadFile } from '../../lib/api/upload.ts'
import { messageOf } from '../../lib/failures.ts'
import { say } from '../../lib/toasts.ts'
import { useFilesChanged } from './files.ts'
import { fileWords as own } from './words.ts'

export type FileOnItsWay = {
  id: number
  file: File
  fraction: number
  /** Why it failed. */
  problem: string | undefined
  cancel: () => void
}

let count = 0
/** Whoever sends many sends one at a time: the next begins where the last has ended. */
let last: Promise<void> = Promise.resolve()

export function useUploads() {
  const [uploads, setUploads] = useState<readonly FileOnItsWay[]>([])
  const changed = useFilesChanged()
  const remove = useCallback(
    (id: number) => setUploads((all) => all.filter((each) => each.id !== id)),
    [],
  )
  const change = (id: number, part: Partial<FileOnItsWay>) =>
    setUploads((all) => all.map((each) => (each.id === id ? { ...each, ...part } : each)))

  async function send(id: number, file: File, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    try {
      await uploadFile(file, { signal, onProgress: (fraction) => change(id, { fraction }) })
      remove(id)
      say({ kind: 'done', text: own.uploaded(file.name) })
      changed()
    } catch (error) {
      if (!signal.aborted) change(id, { problem: messageOf(error) })
    }
  }

  function add(files: readonly File[]): void {
    for (const file of files) {
      const id = ++count
      const ends = new AbortController()
      const cancel = () => {
        ends.abort()
        remove(id)
      }
      setUploads((all) => [...all, { id, file, fraction: 0, problem: undefined, cancel }])
      last = last.then(() => send(id, file, ends.signal))
    }
  }

  return { uploads, add }
}
