/**
 * Records on disk, beside a mounted folder, which of its files have which content of the store. Each difference between
 * record and folder is then a change of the session, also after this process has died. A line is written after the
 * change is both in the store and in the folder.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/**
 * `sha`: hash of the content in the store. `stamp`: stamp of the file while it has this content; null: the file must be
 * read to be sure.
 */
export type LedgerEntry = { sha: string; stamp: string | null }

const Head = z.object({ writer: z.string(), boot: z.string() })
const Line = z.tuple([z.string(), z.string().nullable(), z.string().nullable()])

export type Ledger = {
  /**
   * Undefined when the record is missing or damaged: then nothing separates the store's content from the session's
   * changes.
   */
  entries: Map<string, LedgerEntry> | undefined
  /** False after a restart of the machine: files that were written shortly before may be incomplete. */
  isOfThisBoot: boolean
  /** Appends lines. `sha` null: the file was removed. */
  note(lines: readonly { path: string; sha: string | null }[]): Promise<void>
  /** Replaces the record, with this process as its writer. */
  rewrite(entries: ReadonlyMap<string, LedgerEntry>): Promise<void>
  /** True while no other process has opened the record. */
  isOurs(): Promise<boolean>
}

/** An id that the kernel chooses at each start of the machine. */
const boot = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

/**
 * Makes this process the writer of the record. Another process that wrote it until now may be at its end, and then
 * leaves the record as it is. `isNew`: the folder has no files yet. `scratch`: a folder of this process alone, on the
 * same file system.
 */
export async function openLedger(
  path: string,
  { isNew, scratch }: { isNew: boolean; scratch: string },
): Promise<Ledger> {
  const head = { writer: randomUUID(), boot: boot() }
  const text = await textOf(path)
  const before = headOf(text)

  async function replace(parts: readonly string[]): Promise<void> {
    const next = join(scratch, randomUUID())
    await writeFile(next, parts.join(''))
    await rename(next, path)
  }

  // The boot is that of the files, which have not been looked at yet.
  if (before)
    await replace([
      headLine({ ...before, writer: head.writer }),
      text.slice(text.indexOf('\n') + 1),
    ])
  return {
    entries: isNew ? new Map() : entriesOf(text),
    isOfThisBoot: isNew || before?.boot === head.boot,
    async note(lines) {
      if (lines.length === 0) return
      await appendFile(path, lines.map(({ path: at, sha }) => line(at, sha, null)).join(''))
    },
    async rewrite(entries) {
      const lines = [...entries].map(([at, { sha, stamp }]) => line(at, sha, stamp))
      await replace([headLine(head), ...lines])
    },
    async isOurs() {
      return headOf(await textOf(path))?.writer === head.writer
    },
  }
}

const headLine = (head: z.infer<typeof Head>): string => `${JSON.stringify(head)}\n`
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
  // Text after the last line end is incomplete: the process died while it wrote the line.
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
