/** The documentation, read with the first request for it. Everybody may read it: it says nothing of this server. */
import { fileURLToPath } from 'node:url'
import { runOnce } from '@steward/base/shared-runs.ts'
import { basePath } from '../../ground/config/base-url.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Header } from '../../ground/http/caller.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { filesOfRoot } from './addresses.ts'
import { absentReply } from './answers.ts'

const sourceRoot = fileURLToPath(new URL('../../../../../', import.meta.url))

const pages = section('Health', ['anyone'], '')
const shown = { answer: 'bytes', isPage: true } as const

export function docsRoutes({
  publicUrl,
  docsRoot = sourceRoot,
}: {
  publicUrl: string | undefined
  /** The folder that has `docs`. */
  docsRoot?: string
}): Route[] {
  const url = publicUrl === undefined ? '' : new URL(publicUrl).origin + basePath(publicUrl)
  const open = runOnce(async () => (await import('./site.ts')).openDocsSite(docsRoot, url))

  const serve =
    (address: string) =>
    async (call: { header: Header; accept: string }): Promise<RouteReply> => {
      const site = await open()
      const answer = site.find(address)
      if (answer) return answer(call)
      if (call.accept.includes('text/html')) return absentReply(site.absentPage(address))
      throw new PlatformError('not_found', `there is no page /${address}; /docs/ lists all pages`)
    }

  return [
    pages.get('/docs/', { ...shown, summary: 'Show the documentation' }, serve('docs/')),
    pages.get(
      '/docs/:page{.+}',
      { ...shown, summary: 'Show a page of the documentation, or its source' },
      async (call) => serve(`docs/${call.params.page}`)(call),
    ),
    ...['llms.txt', 'llms-full.txt', ...filesOfRoot].map((file) =>
      pages.get(`/${file}`, { ...shown, summary: `Get ${file}` }, serve(file)),
    ),
  ]
}
