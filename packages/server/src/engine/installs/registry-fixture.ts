/** Registries for tests: one server on this machine with one small package for each package manager. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { dialsFor } from '../../ground/core/security/dial.ts'
import { connectTo, upstreamServer } from '../egress/fixture.ts'
import type { RegistryAccess } from './gate.ts'
import type { Sources } from './sources.ts'

const run = promisify(execFile)
const host = 'registry.test'

/** Programs that build and install the packages. */
const tools = {
  ruby: '/usr/bin/ruby',
  go: '/usr/bin/go',
  cargo: '/usr/bin/cargo',
  pip: '/usr/bin/pip3',
}

export type Registry = AsyncDisposable & {
  sources: Sources
  registry: RegistryAccess
  /** Requested paths. */
  asked: string[]
  /** Called before each answer. */
  hold: (path: string) => Promise<void>
}

/** Writes files below a folder. */
async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

/** Makes an archive without entries for folders, which some readers of archives refuse. */
const zipped = (from: string, to: string) => run('python3', ['-c', zipping, to], { cwd: from })
const zipping = `import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as made:
  for folder, _, names in os.walk('.'):
    for name in names:
      made.write(os.path.join(folder, name))`

async function layWheel(at: string, source: string): Promise<void> {
  const info = 'tiny_pip-1.0.dist-info'
  await writeFiles(source, {
    'tiny_pip.py': 'def main():\n    print("tiny of pip")\n',
    [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: tiny-pip\nVersion: 1.0\n',
    [`${info}/WHEEL`]:
      'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/entry_points.txt`]: '[console_scripts]\ntiny-pip = tiny_pip:main\n',
    [`${info}/RECORD`]: '',
  })
  const name = 'tiny_pip-1.0-py3-none-any.whl'
  await writeFiles(at, { 'simple/tiny-pip/index.html': `<a href="/files/${name}">${name}</a>` })
  await mkdir(join(at, 'files'), { recursive: true })
  await zipped(source, join(at, 'files', name))
}

async function layGem(at: string, source: string): Promise<void> {
  await writeFiles(source, {
    'bin/tiny-gem': '#!/usr/bin/env ruby\nputs "tiny of gem"\n',
    'tiny-gem.gemspec': `Gem::Specification.new do |s|
  s.name, s.version, s.summary, s.authors = 'tiny-gem', '1.0.0', 'tiny', ['test']
  s.files, s.bindir, s.executables = ['bin/tiny-gem'], 'bin', ['tiny-gem']
end
`,
  })
  await mkdir(join(at, 'gems'), { recursive: true })
  const to = join(at, 'gems/tiny-gem-1.0.0.gem')
  await run('gem', ['build', 'tiny-gem.gemspec', '--silent', '--output', to], { cwd: source })
  await run('gem', ['generate_index', '--silent', '--directory', at])
}

async function layCrate(at: string, source: string): Promise<void> {
  const [name, vers] = ['tiny-crate', '1.0.0']
  const folder = `${name}-${vers}`
  await writeFiles(source, {
    [`${folder}/Cargo.toml`]: `[package]\nname = "${name}"\nversion = "${vers}"\nedition = "2021"\n`,
    [`${folder}/src/main.rs`]: 'fn main() { println!("tiny of cargo"); }\n',
  })
  const archive = join(at, 'crates', name, vers, 'download')
  await mkdir(dirname(archive), { recursive: true })
  await run('tar', ['-czf', archive, folder], { cwd: source })
  const cksum = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex')
  const entry = { name, vers, cksum, deps: [], features: {}, yanked: false }
  await writeFiles(at, {
    'index/config.json': JSON.stringify({ dl: `http://${host}/crates` }),
    'index/ti/ny/tiny-crate': `${JSON.stringify(entry)}\n`,
  })
}

async function layModule(at: string, source: string): Promise<void> {
  const [name, version] = ['tiny.test/tiny-go', 'v1.0.0']
  const folder = `${name}@${version}`
  const files = {
    'go.mod': `module ${name}\n`,
    'main.go': 'package main\n\nfunc main() { println("tiny of go") }\n',
  }
  for (const [path, text] of Object.entries(files))
    await writeFiles(source, { [`${folder}/${path}`]: text })
  const info = JSON.stringify({ Version: version, Time: '2026-01-01T00:00:00Z' })
  await writeFiles(at, {
    [`go/${name}/@latest`]: info,
    [`go/${name}/@v/list`]: `${version}\n`,
    [`go/${name}/@v/${version}.info`]: info,
    [`go/${name}/@v/${version}.mod`]: files['go.mod'],
  })
  await zipped(source, join(at, `go/${name}/@v/${version}.zip`))
}

/** `install`: the script that npm runs when it installs the package. */
async function layNpm(at: string, source: string, name: string, install: string): Promise<void> {
  const manifest = { name, version: '1.0.0', bin: { [name]: 'run.js' }, scripts: { install } }
  await writeFiles(source, {
    'package/package.json': JSON.stringify(manifest),
    'package/run.js': '#!/usr/bin/env node\nconsole.log("tiny of npm")\n',
  })
  const archive = `${name}/-/${name}-1.0.0.tgz`
  await mkdir(dirname(join(at, archive)), { recursive: true })
  await run('tar', ['-czf', join(at, archive), 'package'], { cwd: source })
  const dist = { tarball: `http://${host}/${archive}` }
  const versions = { '1.0.0': { ...manifest, hasInstallScript: true, dist } }
  const all = { name, 'dist-tags': { latest: '1.0.0' }, versions }
  await writeFiles(at, { [`${name}/index.json`]: JSON.stringify(all) })
}

const tellsVariables = 'env >seen.txt'
const fills = 'head -c 8000000 /dev/urandom >/mnt/session/outputs/x'
const asksElsewhere =
  'curl -s -o /dev/null -w "%{http_code}" http://elsewhere.test/secret >code.txt || true'

/** Serves all registries at one address. Throws an error that names the missing tool and how to install it. */
export async function startRegistries(): Promise<Registry> {
  for (const [name, path] of Object.entries(tools))
    await run(path, [name === 'go' ? 'version' : '--version']).catch((cause: unknown) => {
      const missing = `${path} is missing: apt-get install ruby golang-go cargo-web python3-pip`
      throw new Error(missing, { cause })
    })
  const folder = await mkdtemp(join(tmpdir(), 'steward-registry-'))
  const at = join(folder, 'served')
  const source = (name: string) => join(folder, name)
  await Promise.all([
    layWheel(at, source('pip')),
    layGem(at, source('gem')),
    layCrate(at, source('cargo')),
    layModule(at, source('go')),
    layNpm(at, source('npm'), 'tiny-npm', tellsVariables),
    layNpm(at, source('filling'), 'filling-npm', fills),
    layNpm(at, source('curious'), 'curious-npm', asksElsewhere),
  ])
  const asked: string[] = []
  const made = { hold: async (_path: string) => {} }
  const server = await upstreamServer(
    async ({ url = '/' }: IncomingMessage, response: ServerResponse) => {
      const { pathname } = new URL(url, `http://${host}`)
      asked.push(pathname)
      await made.hold(pathname)
      const folder = join(at, decodeURIComponent(pathname))
      const found = await Promise.any(
        [folder, join(folder, 'index.html'), join(folder, 'index.json')].map((each) =>
          readFile(each),
        ),
      ).catch(() => undefined)
      const type = pathname.startsWith('/simple') ? 'text/html' : 'application/octet-stream'
      if (found) response.writeHead(200, { 'content-type': type }).end(found)
      else response.writeHead(404).end('nothing of that name')
    },
    { tls: false },
  )
  const base = `http://${host}`
  return {
    sources: {
      cargo: `${base}/index/`,
      gem: `${base}/`,
      go: `${base}/go`,
      npm: `${base}/`,
      pip: `${base}/simple`,
    },
    registry: {
      connect: dialsFor('operator', connectTo(server)),
      dial: dialsFor('operator', async () => connect({ port: server.port, host: '127.0.0.1' })),
    },
    asked,
    get hold() {
      return made.hold
    },
    set hold(hold) {
      made.hold = hold
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
