/** A worker's token for its claim. Each use checks the work item, because the token outlives the claim. */
import { signedTokens } from './signed-tokens.ts'

export type Claim = {
  tenant: string
  environment: string
  session: string
  work: string
  generation: number
}

export type ClaimTokens = ReturnType<typeof claimTokens>

export function claimTokens(...keys: [Buffer, ...Buffer[]]) {
  const tokens = signedTokens('claim', ...keys)
  return {
    mint: ({ tenant, environment, session, work, generation }: Claim): string =>
      tokens.make([tenant, environment, session, work, generation]),

    read(token: string): Claim | undefined {
      const values = tokens.read(token) as [string, string, string, string, number] | undefined
      if (!values) return undefined
      const [tenant, environment, session, work, generation] = values
      return { tenant, environment, session, work, generation }
    },
  }
}
