/** Files and folders that a command makes on a person's machine. What the person has changed stays. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { printLine } from './command-line.ts'

export type PlannedFile = {
  path: string
  text: string
  mode: number
  /** True: a file with another text is replaced. Otherwise it stays. */
  isReplaced?: boolean
}
export type PlannedFolder = { path: string; mode: number }
type PlannedState = 'missing' | 'same' | 'kept' | 'replaced'

export const readIfThere = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, 'utf8') : undefined

function examine({ path, text, isReplaced }: PlannedFile): PlannedState {
  const found = readIfThere(path)
  if (found === undefined) return 'missing'
  if (found === text) return 'same'
  return isReplaced ? 'replaced' : 'kept'
}

/** At any time the whole file is there or nothing of it, and nobody reads it who may not. */
function write({ path, text, mode }: PlannedFile): void {
  const made = `${path}.${process.pid}`
  try {
    writeFileSync(made, text, { mode: 0o600, flag: 'wx' })
    // The mask of the process does not hold here.
    chmodSync(made, mode)
    renameSync(made, path)
  } finally {
    rmSync(made, { force: true })
  }
}

const done = { missing: 'wrote', same: 'unchanged', kept: 'kept as it is', replaced: 'replaced' }
const wouldBe = {
  missing: 'would write',
  same: 'unchanged',
  kept: 'would keep as it is',
  replaced: 'would replace',
}

/** Says the mode, and what happens; with `isPrinted` nothing does. Returns whether the file was, or would be, changed. */
export function makeFile(file: PlannedFile, isPrinted: boolean): boolean {
  const state = examine(file)
  const isChanged = state === 'missing' || state === 'replaced'
  if (isChanged && !isPrinted) write(file)
  const mode = isChanged ? ` (${shownMode(file.mode)})` : ''
  printLine(`${(isPrinted ? wouldBe : done)[state]} ${file.path}${mode}`)
  return isChanged
}

/** As `makeFile`. Folders above it are made too. */
export function makeFolder({ path, mode }: PlannedFolder, isPrinted: boolean): boolean {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder`)
    printLine(`unchanged ${path}`)
    return false
  }
  if (!isPrinted) {
    mkdirSync(dirname(path), { recursive: true })
    mkdirSync(path, { mode: 0o700 })
    chmodSync(path, mode)
  }
  printLine(`${isPrinted ? 'would make' : 'made'} ${path} (${shownMode(mode)})`)
  return true
}

const shownMode = (mode: number): string => mode.toString(8).padStart(4, '0')
