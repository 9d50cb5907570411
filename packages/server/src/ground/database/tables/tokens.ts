import { number } from '../table.ts'

/** Tokens of model requests, by their kind. */
export const tokenColumns = {
  input_tokens: number(),
  output_tokens: number(),
  cache_read_input_tokens: number(),
  cache_creation_input_tokens: number(),
}
