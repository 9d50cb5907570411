/**
 * Mounts the files that people give to a session: read-only at their own paths below mounted folders, or by a link in
 * folders that the session writes to. A file that is added or removed shows before the next call.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import type { MountedKind } from '../mounted-kinds.ts'
import type { OpenBytes } from './layout.ts'
import { folderOf, writeLayout } from './layout.ts'
import type { SandboxLink } from './links.ts'
import { replaceLinks } from './links.ts'
import { z } from 'zod'

const filesPath = '/home/user/files'
const uploadsPath = '/mnt/session/uploads'

/** `resolvedPath`: path of a file resource; null for an upload. `isTold`: the system prompt names the file. */
export type GivenFile = {
  id: string
  filename: string
  resolvedPath: string | null
  isTold: boolean
}

/** The source of one session's files. */
export type FileSource = {
  /** Changes whenever the result of `files` changes. */
  revision(): Promise<number | undefined>
  files(): Promise<GivenFile[]>
  /** Undefined when the file was deleted. */
  open: (id: string) => ReturnType<OpenBytes>
}

export type FilesTarget = {
  /** The host folder of the mounted files. Nothing of the session writes to it. */
  folder: string
  /** Host path of the working folder, `/workspace` inside. */
  workspace: string
  /** True when commands see the host's own paths. */
  isHost: boolean
}

export async function mountFiles(given: FileSource, at: FilesTarget): Promise<MountedKind> {
  const { folder } = at
  /** Lines that the agent has not been told, with the file that each is about. */
  let untold: { id: string; line: string }[] = []
  let revision: number | undefined
  let links = await readLinks(folder)
  let linking: FileLink[] = []
  let isLinked = false
  /** True when `before` has read the files since the last result. */
  let isFresh = false
  const refused = new Set<string>()

  /** Reads the revision before the files, so that the next call sees a file that is added meanwhile. */
  async function look(): Promise<void> {
    const now = await given.revision()
    if (now === revision) return
    const files = await given.files()
    const came = await bring(given, at, files)
    revision = now
    isLinked = false
    linking = files.flatMap((file) => linkOf(at, file) ?? [])
    const ids = new Set(files.map(({ id }) => id))
    untold = untold.filter(({ id }) => ids.has(id))
    for (const file of files) {
      if (!came.has(file.id) || file.isTold) continue
      untold.push({ id: file.id, line: `A file was given: ${shownPath(file)}` })
    }
  }

  async function makeLinks(sandbox: Sandbox): Promise<void> {
    const wanted = new Map(linking.map((each) => [each.path, each]))
    const gone = links.filter(({ path, target }) => wanted.get(path)?.target !== target)
    const shelf = at.isHost ? folderOf(folder, 'files') : filesPath
    const taken = await replaceLinks(sandbox, { gone, wanted: linking, shelf })
    for (const { id, path, target } of taken) {
      if (refused.has(target)) continue
      refused.add(target)
      const line = `Something else is at ${path}: the file that was given for it is ${target}`
      untold.push({ id, line })
    }
    if (links.length + linking.length > 0) await writeLinks(folder, linking)
    links = linking
    isLinked = true
  }

  await look()
  let looking = Promise.resolve()
  async function lookAgain(sandbox: Sandbox): Promise<void> {
    const again = async () => {
      await look()
      if (!isLinked) await makeLinks(sandbox)
    }
    // Several calls may run at the same time.
    looking = looking.then(again, again)
    await looking
  }
  return {
    mounts: [
      { source: folderOf(folder, 'files'), path: filesPath, access: 'read' },
      { source: folderOf(folder, 'uploads'), path: uploadsPath, access: 'read' },
    ],
    started: makeLinks,
    async before(sandbox) {
      await lookAgain(sandbox)
      isFresh = true
    },
    async announced(sandbox) {
      // Reads the files again before the agent is told about one: the file may have been deleted during the call.
      if (!isFresh || untold.length > 0) await lookAgain(sandbox)
      isFresh = false
      return untold.splice(0).map(({ line }) => line)
    },
  }
}

async function bring(
  { open }: FileSource,
  { folder }: FilesTarget,
  files: readonly GivenFile[],
): Promise<Set<string>> {
  const wanted = files.map((file) => ({ id: file.id, paths: pathsBelow(file) }))
  try {
    return await writeLayout(folder, wanted, ({ id }) => open(id))
  } catch (cause) {
    const message = `the files of the session could not be laid out: ${(cause as Error).message}`
    throw new TurnFailed({ type: 'unknown_error', message }, { cause })
  }
}

const isUpload = (path: string): boolean => path.startsWith(`${uploadsPath}/`)
const onShelf = ({ id, filename }: GivenFile): string => `${id}/${filename}`

/** A file resource also has a path below the uploads, whatever its own path is. A link to it leads to the shelf. */
function pathsBelow(file: GivenFile): string[] {
  const { resolvedPath: path } = file
  const shelf = `files/${onShelf(file)}`
  if (path === null) return [shelf]
  if (isUpload(path)) return [`uploads${path.slice(uploadsPath.length)}`]
  return [shelf, `uploads${path}`]
}

const shownPath = (file: GivenFile): string => file.resolvedPath ?? `${filesPath}/${onShelf(file)}`

type FileLink = SandboxLink & { id: string }

/**
 * Undefined for a file that is mounted at its path, and where commands see host paths, for a path outside of the
 * working folder.
 */
function linkOf(target: FilesTarget, file: GivenFile): FileLink | undefined {
  const { id, resolvedPath: path } = file
  if (path === null || isUpload(path)) return undefined
  if (!target.isHost) return { id, path, target: `${filesPath}/${onShelf(file)}` }
  if (!path.startsWith('/workspace/')) return undefined
  return {
    id,
    path: join(target.workspace, path.slice('/workspace/'.length)),
    target: join(folderOf(target.folder, 'files'), onShelf(file)),
  }
}

/** The record of links in the working folder, which outlives its sandbox. */
const Links = z.array(z.object({ path: z.string(), target: z.string() }))
const linksFile = (folder: string): string => join(folder, 'links.json')

async function readLinks(folder: string): Promise<SandboxLink[]> {
  try {
    return Links.parse(JSON.parse(await readFile(linksFile(folder), 'utf8')))
  } catch {
    // The remaining links then lead nowhere.
    return []
  }
}

const writeLinks = (folder: string, links: readonly SandboxLink[]): Promise<void> =>
  writeFile(linksFile(folder), JSON.stringify(links))
