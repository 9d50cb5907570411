/** Bundles programs of this repository: each an entry, with chunks that they share. The one way in which code is bundled. */
import { readFile } from 'node:fs/promises'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import type { BuildOptions, Metafile, Plugin } from 'esbuild'
import { build } from 'esbuild'
import { root } from '../house/sources.ts'

export type BundleOptions = {
  /** Names of files of the output, and their sources from the root of the repository. */
  entries: Readonly<Record<string, string>>
  /** Folder of the output. Entries, as `.mjs`, and the chunks that they share lie in it. */
  folder: string
  /** True: the package is bundled. Others are imported from where they are installed. */
  isBundled: (name: string) => boolean
  /** An expression for the URL of a file of the repository, or of a package's file, in a file of the output. */
  urlOf: (path: string) => string
  /** Entries of other calls into the same folder. */
  others?: Readonly<Record<string, string>>
  /** An entry without chunks, for a program that is moved elsewhere. */
  isAlone?: boolean
  /** Other packages are imported by their paths here, because they may be missing beside the bundle. */
  byPath?: boolean
} & Pick<
  BuildOptions,
  'minifyWhitespace' | 'minifySyntax' | 'sourcemap' | 'sourcesContent' | 'define'
>

/** Marks a request of this plugin, which the plugin leaves to esbuild. */
const isAsked = Symbol()

/** Banner of each file, because CommonJS packages load Node's modules with `require`. */
const banner = `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`

const isPackage = (name: string): boolean => !name.startsWith('.') && !name.startsWith('/')
const isOwn = (name: string): boolean => !isPackage(name) || name.startsWith('@steward/')

type Relocation = Pick<BundleOptions, 'urlOf'> & {
  /** Names of the output by paths of entries. */
  outputs: ReadonlyMap<string, string>
  /** The file of a package that a source names. */
  fileOf: (name: string, from: string) => Promise<string>
}

/**
 * Keeps the paths of files that a source reads beside itself: `urlOf` says where these are. A path of another entry
 * becomes the path of its output.
 */
async function relocated(path: string, { urlOf, outputs, fileOf }: Relocation): Promise<string> {
  const source = await readFile(path, 'utf8')
  const named = new Set(source.match(/(?<=import\.meta\.resolve\(')[^']+(?='\))/g))
  const files = new Map<string, string>()
  for (const name of named) files.set(name, await fileOf(name, dirname(path)))
  const beside = (output: string) => `new URL('./${output}.mjs', import.meta.outputUrl)`
  return source
    .replaceAll(/new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g, (text, name: string) => {
      const output = outputs.get(resolve(dirname(path), name))
      return output === undefined ? text : beside(output)
    })
    .replaceAll(/import\.meta\.resolve\('([^']+)'\)/g, (text, name: string) => {
      const file = files.get(name)
      return file === undefined ? text : urlOf(file)
    })
    .replaceAll('import.meta.url', `(${urlOf(path)})`)
    .replaceAll(
      'import.meta.dirname',
      `(process.getBuiltinModule('node:url').fileURLToPath(${urlOf(dirname(path))}))`,
    )
    .replaceAll('import.meta.outputUrl', 'import.meta.url')
}

/** A CommonJS package has no named exports where it is imported dynamically from a bundle: this module names them. */
function namedExports(path: string): string {
  const library: unknown = createRequire(path)(path)
  const names = Object.keys(library ?? {}).filter(
    (each) => /^[A-Za-z_$][\w$]*$/.test(each) && each !== 'default',
  )
  // As Node does, `default` is what the module exports, also where it says that it was an ES module.
  return `const library = require(${JSON.stringify(path)})
export default library
export const { ${names.join(', ')} } = library`
}

export async function bundle(options: BundleOptions): Promise<Metafile> {
  const {
    entries,
    folder,
    isBundled,
    urlOf,
    byPath = false,
    isAlone = false,
    others = {},
    ...rest
  } = options
  const outputs = new Map(
    Object.entries({ ...others, ...entries }).map(([name, path]) => [join(root, path), name]),
  )

  const ownFiles: Plugin = {
    name: 'own files',
    setup(bundler) {
      bundler.onResolve(
        { filter: /^/ },
        async ({ path, kind, resolveDir, pluginData, namespace }) => {
          if (kind === 'entry-point' || isBuiltin(path) || pluginData === isAsked) return undefined
          if (isOwn(path)) return undefined
          const asked = { kind, resolveDir: resolveDir || root, pluginData: isAsked }
          if (isBundled(path)) {
            if (kind !== 'dynamic-import' || namespace === 'named') return undefined
            const found = await bundler.resolve(path, asked)
            return found.errors.length === 0 && (await isCommonJs(found.path))
              ? { path: fromRoot(found.path), namespace: 'named' }
              : undefined
          }
          if (!byPath) return { path, external: true }
          const found = await bundler.resolve(path, asked)
          return found.errors.length > 0 ? found : { path: found.path, external: true }
        },
      )
      bundler.onLoad({ filter: /^/, namespace: 'named' }, ({ path }) => ({
        contents: namedExports(join(root, path)),
        resolveDir: dirname(join(root, path)),
        loader: 'js',
      }))
      const fileOf = async (name: string, from: string): Promise<string> => {
        const asked = { kind: 'dynamic-import', resolveDir: from, pluginData: isAsked } as const
        const found = await bundler.resolve(name, asked)
        if (found.errors.length > 0) throw new Error(`${name} is not installed`)
        return found.path
      }
      bundler.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
        contents: await relocated(path, { urlOf, outputs, fileOf }),
        loader: 'ts',
      }))
    },
  }

  const { metafile } = await build({
    ...rest,
    entryPoints: { ...entries },
    absWorkingDir: root,
    bundle: true,
    // Only the conditions of Node apply. Otherwise esbuild may choose a form of a package that Node would not load.
    conditions: [],
    splitting: !isAlone,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    outdir: folder,
    chunkNames: '[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    banner: { js: banner },
    plugins: [ownFiles],
    logLevel: 'warning',
    metafile: true,
  })
  return metafile
}

/** True for a file that Node loads as CommonJS. */
async function isCommonJs(path: string): Promise<boolean> {
  if (path.endsWith('.cjs')) return true
  if (path.endsWith('.mjs')) return false
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    const text = await readFile(join(at, 'package.json'), 'utf8').catch(() => undefined)
    if (text === undefined) continue
    return (JSON.parse(text) as { type?: string }).type !== 'module'
  }
  return false
}

/** Paths from the root of the repository. */
export const fromRoot = (path: string): string => relative(root, path)
