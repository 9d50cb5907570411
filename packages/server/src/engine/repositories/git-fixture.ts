/** For tests: real repositories behind git's own server program, over https, each with its own token. */
import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { TestUpstream } from '../egress/fixture.ts'
import { upstreamServer } from '../egress/fixture.ts'

const run = promisify(execFile)
const identity = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
}

type GitRequest = { method: string; url: string; authorization?: string | undefined }

type GitAnswer = (request: IncomingMessage, response: ServerResponse) => unknown

export type GitServer = AsyncDisposable & {
  server: TestUpstream
  /** All requests. */
  asked: GitRequest[]
  /** Creates a bare repository whose first commit on `main` holds these files. Without a token it is public. */
  create(path: string, files: Record<string, string>, token?: string): Promise<void>
  /** Sets the token that opens the repository from now on. */
  setToken(path: string, token: string | undefined): void
  /** Sets a listener that answers instead of git, but where it returns false; undefined restores git. */
  setAnswer(listener: GitAnswer | undefined): void
  /** Commits these files to a branch and returns the commit id. */
  commit(path: string, branch: string, files: Record<string, string>): Promise<string>
  git(path: string, ...args: string[]): Promise<string>
}

export async function gitServer(): Promise<GitServer> {
  const root = await mkdtemp(join(tmpdir(), 'steward-test-'))
  const tokens = new Map<string, string | undefined>()
  const asked: GitRequest[] = []
  let answer: GitAnswer | undefined

  const server = await upstreamServer((request, response) => {
    const { method = '', url = '', headers } = request
    asked.push({ method, url, authorization: headers.authorization })
    if (answer && answer(request, response) !== false) return
    const path = [...tokens.keys()].find((each) => url.startsWith(`${each}/`))
    if (path === undefined) return response.writeHead(404).end()
    const token = tokens.get(path)
    const given = Buffer.from(headers.authorization?.slice('Basic '.length) ?? '', 'base64')
    if (token !== undefined && given.toString() !== `x-access-token:${token}`) {
      const status = headers.authorization === undefined || token !== 'nobody' ? 401 : 403
      return response.writeHead(status, { 'www-authenticate': 'Basic realm="git"' }).end()
    }
    backend(root, request, response)
  })

  const git = async (path: string, ...args: string[]): Promise<string> => {
    const { stdout } = await run('git', ['-C', join(root, path), ...args], {
      env: { ...process.env, ...identity },
    })
    return stdout.trim()
  }

  async function commit(path: string, branch: string, files: Record<string, string>) {
    const work = await mkdtemp(join(root, 'work-'))
    const folder = ['--git-dir', join(root, path), '--work-tree', work]
    const has = await git(path, 'rev-parse', '-q', '--verify', `refs/heads/${branch}`).catch(
      () => '',
    )
    const from = has || (await git(path, 'rev-parse', '-q', '--verify', 'HEAD').catch(() => ''))
    if (from) await git(path, ...folder, 'read-tree', from)
    else await git(path, ...folder, 'read-tree', '--empty')
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(work, name)), { recursive: true })
      await writeFile(join(work, name), text)
      await git(path, ...folder, 'update-index', '--add', join(work, name))
    }
    const tree = await git(path, ...folder, 'write-tree')
    const parents = from ? ['-p', from] : []
    const id = await git(path, 'commit-tree', tree, ...parents, '-m', 'more')
    await git(path, 'update-ref', `refs/heads/${branch}`, id)
    await rm(work, { recursive: true })
    return id
  }

  return {
    server,
    asked,
    git,
    commit,
    setToken: (path, token) => void tokens.set(path, token),
    setAnswer: (listener) => void (answer = listener),
    async create(path, files, token) {
      const folder = join(root, path)
      await run('git', ['init', '-q', '--bare', '-b', 'main', folder])
      await git(path, 'config', 'http.receivepack', 'true')
      tokens.set(path, token)
      if (Object.keys(files).length > 0) await commit(path, 'main', files)
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** CGI, as far as git needs it. */
function backend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query = ''] = (request.url ?? '').split('?')
  const { headers, method } = request
  const child = spawn('git', ['http-backend'], {
    env: {
      ...{ PATH: process.env['PATH'], GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1' },
      ...{ REQUEST_METHOD: method, PATH_INFO: decodeURIComponent(path), QUERY_STRING: query },
      ...{ CONTENT_TYPE: headers['content-type'] ?? '', REMOTE_USER: 'somebody' },
      ...(headers['content-length'] && { CONTENT_LENGTH: headers['content-length'] }),
      ...(headers['content-encoding'] && { HTTP_CONTENT_ENCODING: headers['content-encoding'] }),
      ...(headers['git-protocol'] && { GIT_PROTOCOL: String(headers['git-protocol']) }),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => {})
  request.pipe(child.stdin)
  let head = Buffer.alloc(0)
  const onHead = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    child.stdout.off('data', onHead)
    const lines = head.toString('latin1', 0, end).split('\r\n')
    let status = 200
    for (const line of lines) {
      const [name = '', value = ''] = line.split(/: (.*)/s)
      if (name === 'Status') status = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.writeHead(status)
    response.write(head.subarray(end + 4))
    child.stdout.pipe(response)
  }
  child.stdout.on('data', onHead)
  child.once('close', () => response.end())
}
