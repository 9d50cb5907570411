import type { ProviderCall } from '../integration.ts'

/** A call with a document of GraphQL. */
export const graphqlCall = (query: string, variables: object): ProviderCall => ({
  method: 'POST',
  path: '/graphql',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query, variables }),
})
