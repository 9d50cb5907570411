/** Skills, their versions and the files of these: what the service tells, and what changes them. */
import type { QueryClient } from '@tanstack/react-query'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { skillChoices } from '../../lib/api/choices.ts'
import { api, dataOf } from '../../lib/api/client.ts'
import type { ListedSkill, SkillSource, SkillVersion } from '../../lib/api/types.ts'
import { pagesQuery } from '../../lib/list-state.ts'
import type { SkillUpload } from './upload.ts'
import { filesOf, formOf } from './upload.ts'

const skills = ['skills'] as const

/** `source`: undefined for all. */
export const skillsQuery = (source: SkillSource | undefined) =>
  pagesQuery<ListedSkill>([...skills, 'list', source], (page, signal) =>
    api.GET('/v1/skills', {
      params: { query: { ...page, ...(source !== undefined && { source }) } },
      signal,
    }),
  )

export const skillQuery = (id: string) =>
  queryOptions({
    queryKey: [...skills, 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/skills/{id}', { params: { path: { id } }, signal })),
  })

/** The newest first. */
export const skillVersionsQuery = (id: string) =>
  pagesQuery<SkillVersion>([...skills, 'versions', id], (page, signal) =>
    api.GET('/v1/skills/{id}/versions', { params: { path: { id }, query: page }, signal }),
  )

/** `text` is null where the file is none. A version never changes. */
export const skillFileQuery = ({ skill_id, version }: SkillVersion, filename: string) =>
  queryOptions({
    queryKey: [...skills, 'file', skill_id, version, filename],
    queryFn: async ({ signal }): Promise<{ text: string | null; blob: Blob }> => {
      const blob = await dataOf(
        api.GET('/v1/skills/{id}/versions/{version}/files/{filename}', {
          params: { path: { id: skill_id, version, filename } },
          parseAs: 'blob',
          signal,
        }),
      )
      return { text: blob.type.startsWith('text/plain') ? await blob.text() : null, blob }
    },
    staleTime: Infinity,
  })

/** All files of a version as a zip archive. */
export const useArchiveDownload = () =>
  useMutation({
    mutationFn: ({ skill_id, version }: SkillVersion) =>
      dataOf(
        api.GET('/v1/skills/{id}/versions/{version}/content', {
          params: { path: { id: skill_id, version } },
          parseAs: 'blob',
        }),
      ),
  })

const renew = (client: QueryClient) => () => {
  void client.invalidateQueries({ queryKey: skills })
  void client.invalidateQueries(skillChoices)
}

export function useSkillCreate() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (upload: SkillUpload) => {
      const { title: display_title } = upload
      const named = display_title === '' ? {} : { display_title }
      if (upload.by === 'text')
        return dataOf(api.POST('/v1/skills', { body: { ...named, files: filesOf(upload) } }))
      const body = { ...named, 'files[]': upload.files.map(({ name }) => name) }
      return dataOf(api.POST('/v1/skills', { body, bodySerializer: () => formOf(upload) }))
    },
    onSuccess: renew(client),
  })
}

export function useVersionCreate(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (upload: SkillUpload) => {
      const params = { path: { id } }
      if (upload.by === 'text')
        return dataOf(
          api.POST('/v1/skills/{id}/versions', { params, body: { files: filesOf(upload) } }),
        )
      return dataOf(
        api.POST('/v1/skills/{id}/versions', {
          params,
          body: { 'files[]': upload.files.map(({ name }) => name) },
          bodySerializer: () => formOf(upload),
        }),
      )
    },
    onSuccess: renew(client),
  })
}

export function useSkillDelete(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => dataOf(api.DELETE('/v1/skills/{id}', { params: { path: { id } } })),
    onSuccess: renew(client),
  })
}

export function useVersionDelete({ skill_id, version }: SkillVersion) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () =>
      dataOf(
        api.DELETE('/v1/skills/{id}/versions/{version}', {
          params: { path: { id: skill_id, version } },
        }),
      ),
    onSuccess: renew(client),
  })
}
