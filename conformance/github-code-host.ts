/** A service before a stub of GitHub whose repository acme/shop is a real one, behind git's own server program. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { connectTo } from '@steward/server/engine/egress/fixture.ts'
import type { GitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import { gitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import type { GithubStub } from './github.ts'
import { githubSettings, githubStub } from './github.ts'
import type { databases, TestService } from './service.ts'
import { boot } from './service.ts'
import type { ReceivedPost, ReceiverAnswer } from './receiver.ts'

/** The path of acme/shop at the git server. */
export const shopPath = '/github/acme/shop'

/** Commands that commit a change in the repository and push it. */
export const pushing = (branch: string): string =>
  `cd /workspace/shop && echo more >> README.md && git -c user.name=a -c user.email=a@example.com commit -qam more && git push -q origin HEAD:refs/heads/${branch} && echo pushed`

/** A line with which the offline model calls `open_pull_request`. */
export const opening = (branch: string, more: object = {}): string =>
  `call open_pull_request ${JSON.stringify({ title: 'Mend @bob', body: 'For @alice.', branch, ...more })}`

export type CodeHost = {
  service: TestService
  stub: GithubStub
  git: GitServer
  /** Requests that neither git nor the stub answered: their paths and credentials. */
  strays: { path: string; authorization: string | undefined }[]
  /** Every token of git is renewed before its session goes on. */
  makeTokensDue(): Promise<void>
  close(): Promise<void>
}

/** Whether the token of a request lets git read or write. */
function opensFor({ code }: GithubStub, { url = '', headers }: IncomingMessage): boolean {
  const given = headers.authorization?.slice('Basic '.length) ?? ''
  const [, token = ''] = Buffer.from(given, 'base64').toString().split(':')
  const contents = code.permissions.get(token)?.['contents']
  return /git-receive-pack/.test(url) ? contents === 'write' : contents !== undefined
}

/** The host of every stub. */
export const codeHostUrl = 'https://api.example'

type Answering = { answer(posted: ReceivedPost): ReceiverAnswer | undefined }

/** `others`: stubs of more providers, which `env` connects. */
export async function codeHost(
  database: (typeof databases)[number],
  { env = {}, others = [] }: { env?: Record<string, string>; others?: readonly Answering[] } = {},
): Promise<CodeHost> {
  const git = await gitServer()
  const stub = githubStub([{ id: 42, login: 'acme' }])
  const strays: CodeHost['strays'] = []
  await git.create(shopPath, { 'README.md': 'the shop\n' })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request
    const body = await text(request)
    const names = await git.git(shopPath, 'for-each-ref', '--format=%(refname:short)', 'refs/heads')
    stub.code.branches.clear()
    for (const name of names.split('\n')) stub.code.branches.add(name)
    const posted = { method, path, headers, body }
    const answered = [stub, ...others].map((each) => each.answer(posted)).find(Boolean)
    if (!answered) strays.push({ path, authorization: headers.authorization })
    const { status, headers: given, body: said } = answered ?? { status: 404, body: '{}' }
    response.writeHead(status, given).end(said)
  }

  git.setAnswer((request, response) => {
    if (!request.url?.startsWith(`${shopPath}/`)) return void answer(request, response)
    if (opensFor(stub, request)) return false
    const status = request.headers.authorization === undefined ? 401 : 403
    return response.writeHead(status, { 'www-authenticate': 'Basic realm="git"' }).end()
  })
  const service = await boot(database, {
    env: { ...githubSettings(codeHostUrl), PUBLIC_URL: 'https://steward.example', ...env },
    overrides: {
      nameOverride: {
        connect: connectTo(git.server),
        dial: async () => connect({ port: git.server.port, host: '127.0.0.1' }),
      },
    },
  })
  return {
    ...{ service, stub, git, strays },
    makeTokensDue: () =>
      service.tenantDatabase.write(async (tx) => {
        const due = tx.updateTable('integration_threads').set({ token_due_ms: 1 })
        await due.where('token_due_ms', 'is not', null).execute()
      }),
    async close() {
      await service.close()
      await git[Symbol.asyncDispose]()
    },
  }
}
