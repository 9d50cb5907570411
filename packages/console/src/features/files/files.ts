/** The files of the workspace, and what is in them. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, callerHeaders, dataOf } from '../../lib/api/client.ts'
import type { FileMetadata } from '../../lib/api/types.ts'
import { pagesQuery } from '../../lib/list-state.ts'
import { serviceUrl } from '../../lib/place.ts'
import type { FileView } from './content.ts'
import { isText, largestImage, longestText, viewOf } from './content.ts'

const files = ['files'] as const
const lists = [...files, 'list'] as const

export const filesQuery = pagesQuery<FileMetadata>(lists, (page, signal) =>
  api.GET('/v1/files', { params: { query: page }, signal }),
)

export const fileQuery = (id: string) =>
  queryOptions({
    queryKey: [...files, 'one', id],
    queryFn: async ({ signal }) => {
      const path = { params: { path: { id } }, headers: { accept: 'application/json' } }
      const file = await dataOf(api.GET('/v1/files/{id}', { ...path, signal }))
      // Without the header the same address has the bytes.
      if (typeof file === 'string') throw new TypeError('the server sent bytes in place of facts')
      return file
    },
  })

/** Bytes of a file, from the first one on. */
async function bytesOf(id: string, most: number, signal: AbortSignal): Promise<Blob> {
  const path = { params: { path: { id } }, headers: { range: `bytes=0-${most - 1}` } }
  return dataOf<Blob>(api.GET('/v1/files/{id}/content', { ...path, signal, parseAs: 'blob' }))
}

/** What of a file can be shown. */
export const contentQuery = (file: FileMetadata) =>
  queryOptions({
    queryKey: [...files, 'content', file.id],
    queryFn: async ({ signal }): Promise<FileView> => {
      const kind = viewOf(file)
      if (kind === 'empty' || kind === 'large') return { kind }
      const bytes = await bytesOf(file.id, kind === 'image' ? largestImage : longestText, signal)
      if (kind === 'image') return { kind, bytes: new Blob([bytes], { type: file.mime_type }) }
      const read = new Uint8Array(await bytes.arrayBuffer())
      return isText(read)
        ? { kind: 'text', text: new TextDecoder().decode(read) }
        : { kind: 'none' }
    },
    enabled: file.downloadable,
    staleTime: Infinity,
    gcTime: 0,
  })

/** Begins a download. A cookie goes along by itself, and the browser writes to the disk; a key does not. */
export const useDownload = () =>
  useMutation({
    mutationFn: async ({ id, filename }: FileMetadata) => {
      const path = { params: { path: { id } }, parseAs: 'blob' } as const
      const isByCookie = Object.keys(callerHeaders()).length === 0
      const url = isByCookie
        ? `${serviceUrl}/v1/files/${id}/content`
        : URL.createObjectURL(await dataOf<Blob>(api.GET('/v1/files/{id}/content', path)))
      const link = Object.assign(document.createElement('a'), { href: url, download: filename })
      link.click()
      if (!isByCookie) setTimeout(() => URL.revokeObjectURL(url), downloadMs)
    },
  })

/** A browser has begun to save a blob by then. */
const downloadMs = 60_000

export function useFileDelete() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => dataOf(api.DELETE('/v1/files/{id}', { params: { path: { id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: lists }),
  })
}

export function useFilesChanged() {
  const client = useQueryClient()
  return () => void client.invalidateQueries({ queryKey: lists })
}
