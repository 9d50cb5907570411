/** Whether a person may call an agent by the access that they have at GitHub. */
import { z } from 'zod'
import type { ContextSource } from '../context.ts'
import type { App } from '../installations/app.ts'
import { buildGet } from './calls.ts'

const roles = ['none', 'read', 'triage', 'write', 'maintain', 'admin']
const permissionForm = z.object({ permission: z.string(), role_name: z.string().nullish() })
const membershipForm = z.object({ state: z.string() })

/** A role that an organisation has made counts as what GitHub says that it inherits. */
async function roleOf({ ask, remembered }: ContextSource, repository: string, login: string) {
  const path = `/repos/${repository}/collaborators/${encodeURIComponent(login)}/permission`
  const what = `the access of ${login} to ${repository}`
  const found = await remembered(`access/${repository}/${login}`, () =>
    ask({ call: buildGet(path), form: permissionForm, what }),
  )
  return Math.max(...[found?.permission, found?.role_name].map((name) => roles.indexOf(name ?? '')))
}

async function isInTeam(
  { ask, remembered }: ContextSource,
  { owner, slug, login }: { owner: string; slug: string; login: string },
): Promise<boolean> {
  const [organisation, team, person] = [owner, slug, login].map(encodeURIComponent)
  const path = `/orgs/${organisation}/teams/${team}/memberships/${person}`
  const what = `whether ${login} is in the team ${slug}`
  const found = await remembered(`team/${owner}/${slug}/${login}`, () =>
    ask({ call: buildGet(path), form: membershipForm, what }),
  )
  return found?.state === 'active'
}

export const mayCallOnGithub: NonNullable<App['mayCall']> = async (source, check) => {
  const { login, repository } = check
  const { access = null, teams = [] } = source.spec.github ?? {}
  if (typeof login !== 'string' || typeof repository !== 'string') return false
  if (access !== null && (await roleOf(source, repository, login)) >= roles.indexOf(access))
    return true
  const [owner = ''] = repository.split('/')
  for (const slug of teams) if (await isInTeam(source, { owner, slug, login })) return true
  return false
}
