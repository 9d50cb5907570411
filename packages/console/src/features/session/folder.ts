/** The working folder of a session, over the service. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import { saveFile } from '../../lib/clipboard.ts'

const folder = (session: string) => ['sessions', 'folder', session] as const

export const folderQuery = (session: string, path: string) =>
  infiniteQueryOptions({
    queryKey: [...folder(session), path],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/v1/ext/sessions/{id}/folder', {
          params: {
            path: { id: session },
            query: { ...(path !== '' && { path }), ...(pageParam !== '' && { page: pageParam }) },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page ?? undefined,
  })

/** Bytes of a file that is shown in the page; a longer one is downloaded. */
export const largestShown = 1_000_000

const contentOf = (session: string, path: string, signal?: AbortSignal) =>
  dataOf(
    api.GET('/v1/ext/sessions/{id}/folder/content', {
      params: { path: { id: session }, query: { path } },
      parseAs: 'blob',
      ...(signal && { signal }),
    }),
  )

/** The text of a file; undefined for bytes that are no text. */
export const fileQuery = (session: string, path: string) =>
  queryOptions({
    queryKey: [...folder(session), 'file', path],
    queryFn: async ({ signal }) => {
      const bytes = await (await contentOf(session, path, signal)).arrayBuffer()
      try {
        const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
        return { text: text.includes('\0') ? undefined : text }
      } catch {
        return { text: undefined }
      }
    },
  })

export const saveFolderFile = async (session: string, path: string): Promise<void> =>
  saveFile(await contentOf(session, path), path.split('/').at(-1) ?? 'file')

export const changesQuery = (session: string, span: { from?: number; to?: number }) =>
  queryOptions({
    queryKey: [...folder(session), 'changes', span],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/ext/sessions/{id}/changes', {
          params: { path: { id: session }, query: span },
          signal,
        }),
      ),
  })

export const changedTurnsQuery = (session: string) =>
  queryOptions({
    queryKey: [...folder(session), 'turns'],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/ext/sessions/{id}/changes/turns', {
          params: { path: { id: session } },
          signal,
        }),
      ),
  })
