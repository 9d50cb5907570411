/**
 * Bundles each program that tests start again and again into one file, because loading a thousand files takes most of a
 * start. `npm run test:long`, and a run of chosen files, start the programs unbundled.
 */
import { readFile, rm } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'
import { build } from 'esbuild'
import { root } from '../house/sources.ts'

const programs = [
  'packages/server/src/main.ts',
  'packages/server/src/ground/database/write-ahead-log-thread.ts',
  'packages/server/src/engine/runner/crash-fixture.ts',
  'packages/worker/src/main.ts',
  'packages/worker/src/harness/main.ts',
  'conformance/canaries/program.ts',
  'conformance/official-worker.ts',
]

/** Packages that consist of many files and are loaded at every start. Other packages stay unbundled. */
const bundled =
  /^(?:kysely|zod|hono|@hono\/node-server|undici|@anthropic-ai\/sdk|@opentelemetry\/api|standardwebhooks|pg(?:-[\w-]+)?|postgres-\w+|xtend|busboy|streamsearch|@modelcontextprotocol\/[\w-]+|eventsource(?:-parser)?|pkce-challenge|@steward\/[\w-]+)(?:\/|$)|^[./]/

/**
 * The bundled packages that a program may import dynamically. A dynamic import of any other CommonJS package would have
 * no named exports, because Node finds these only in unbundled files.
 */
const bundledLater =
  /^(?:@anthropic-ai\/sdk|@modelcontextprotocol\/[\w-]+|@steward\/[\w-]+)(?:\/|$)|^[./]/

/** Marks a request of this plugin, which the plugin leaves to esbuild. */
const isAsked = Symbol()

/** Banner of each file, because CommonJS packages load Node's modules with `require`. */
const banner = `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`

/** Returns the files that the programs share. They do nothing when they are loaded. */
export async function bundlePrograms(folder: string): Promise<string[]> {
  const outputOf = (path: string): string =>
    join(folder, relative(root, path).replace(/\.ts$/, '.mjs'))
  const sources = new Set(programs.map((each) => join(root, each)))

  /**
   * Keeps the paths of files that the source reads beside itself; a path of another program becomes the path of its
   * bundle.
   */
  function written(path: string, source: string): string {
    return source
      .replaceAll(/new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g, (text, name: string) => {
        const target = resolve(dirname(path), name)
        if (!sources.has(target)) return text
        return `new URL(${JSON.stringify(pathToFileURL(outputOf(target)).href)})`
      })
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
  }

  const ownFiles: Plugin = {
    name: 'own files',
    setup(bundler) {
      bundler.onResolve({ filter: /^/ }, async ({ path, kind, resolveDir, pluginData }) => {
        const names = kind === 'dynamic-import' ? bundledLater : bundled
        const isOurs = kind === 'entry-point' || names.test(path)
        if (isOurs || isBuiltin(path) || pluginData === isAsked) return undefined
        // A package may be missing beside the bundle, so its path is absolute.
        const found = await bundler.resolve(path, { kind, resolveDir, pluginData: isAsked })
        return found.errors.length > 0 ? found : { path: found.path, external: true }
      })
      bundler.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
        contents: written(path, await readFile(path, 'utf8')),
        loader: 'ts',
      }))
    },
  }

  await rm(folder, { recursive: true, force: true })
  const { metafile } = await build({
    entryPoints: programs,
    absWorkingDir: root,
    bundle: true,
    // Only the conditions of Node apply. Otherwise esbuild may choose a form of a package that Node would not load.
    conditions: [],
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    outdir: folder,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    banner: { js: banner },
    plugins: [ownFiles],
    logLevel: 'warning',
    metafile: true,
  })
  const outputs = Object.values(metafile.outputs)
  const entries = outputs.filter(({ entryPoint }) => entryPoint && programs.includes(entryPoint))
  const shared = entries.flatMap(({ imports }) => imports.filter(({ external }) => !external))
  return [...new Set(shared.map(({ path }) => join(root, path)))]
}
