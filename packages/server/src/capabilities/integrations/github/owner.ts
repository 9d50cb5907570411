/** Checks whether a person may connect an account of GitHub to a workspace of this service. */
import { z } from 'zod'
import type { ProviderContext } from '../installations/app.ts'
import { askGithub } from './token.ts'

const membership = z.object({ state: z.literal('active'), role: z.literal('admin') })
const person = z.object({ login: z.string() })

/**
 * Attack: everybody who can read one repository sees the installation, but its token can write to all repositories. So
 * the person must own the account. `bearer`: the token of the person.
 */
export async function ownsAccount(
  apiUrl: string,
  bearer: string,
  { login, type }: { login: string; type: string },
  provider: ProviderContext,
): Promise<boolean> {
  const letter = { method: 'GET', bearer } as const
  if (type === 'Organization') {
    const url = `${apiUrl}/user/memberships/orgs/${encodeURIComponent(login)}`
    const answer = await askGithub(provider, membership, { ...letter, url })
    return 'found' in answer && answer.found !== undefined
  }
  const answer = await askGithub(provider, person, { ...letter, url: `${apiUrl}/user` })
  return 'found' in answer && answer.found?.login === login
}
