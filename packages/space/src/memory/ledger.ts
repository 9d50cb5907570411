/**
 * What lies in a mounted folder as its store holds it, on disk beside the folder: whatever differs is the session's work,
 * also after this process has died. A line is written after what it tells of has happened, both in the store and in
 * the folder.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { z } from 'zod'

/** `stamp` is that of a file known to hold this content; null for one that must be read to be sure. */
export type LedgerEntry = { sha: string; stamp: string | null }

const Head = z.object({ writer: z.string(), boot: z.string() })
const Line = z.tuple([z.string(), z.string().nullable(), z.string().nullable()])

export type Ledger = {
  /** Undefined: what came from the store cannot be told from the session's work. */
  entries: Map<string, LedgerEntry> | undefined
  /** If not, what was written shortly before the machine stopped may not have reached the disk whole. */
  isOfThisBoot: boolean
  /** `sha` null: it is no longer there. */
  note(lines: readonly { path: string; sha: string | null }[]): Promise<void>
  /** Anew and whole, with this process as its writer. */
  rewrite(entries: ReadonlyMap<string, LedgerEntry>): Promise<void>
  /** Whether nobody else has written it anew since. */
  isOurs(): Promise<boolean>
}

/** Names the time since the machine started. */
const boot = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

/** `isNew`: nothing was laid out yet. */
export async function openLedger(path: string, isNew: boolean): Promise<Ledger> {
  const head = { writer: randomUUID(), boot: boot() }
  const text = await textOf(path)
  return {
    entries: isNew ? new Map() : entriesOf(text),
    isOfThisBoot: isNew || headOf(text)?.boot === head.boot,
    async note(lines) {
      if (lines.length === 0) return
      await appendFile(path, lines.map(({ path: at, sha }) => line(at, sha, null)).join(''))
    },
    async rewrite(entries) {
      const lines = [...entries].map(([at, { sha, stamp }]) => line(at, sha, stamp))
      await writeFile(`${path}.next`, [`${JSON.stringify(head)}\n`, ...lines].join(''))
      await rename(`${path}.next`, path)
    },
    async isOurs() {
      return headOf(await textOf(path))?.writer === head.writer
    },
  }
}

const line = (...parts: z.infer<typeof Line>): string => `${JSON.stringify(parts)}\n`

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

function headOf(text: string): z.infer<typeof Head> | undefined {
  return parsed(Head, text.slice(0, text.indexOf('\n')))
}

function entriesOf(text: string): Map<string, LedgerEntry> | undefined {
  if (!headOf(text)) return undefined
  const entries = new Map<string, LedgerEntry>()
  // What stands behind the last end of a line was being written when the process died.
  for (const each of text.split('\n').slice(1, -1)) {
    const found = parsed(Line, each)
    if (!found) return undefined
    const [path, sha, stamp] = found
    if (sha === null) entries.delete(path)
    else entries.set(path, { sha, stamp })
  }
  return entries
}

function parsed<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
