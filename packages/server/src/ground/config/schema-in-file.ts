/** The JSON Schema of a setting whose value is JSON, for editors of settings files. */
import { z } from 'zod'

/** Formats of zod that the draft of the schema does not have, or that validators take for an error. */
const unknownFormats = ['starts_with', 'uri']

/** Whole in itself: it lies deep in another schema, so that it may refer to no definitions. */
export const schemaInFile = (schema: z.ZodType) =>
  z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-7',
    // Without the ids of the schemas, which would become definitions.
    metadata: z.registry<object>(),
    override({ jsonSchema }) {
      if (unknownFormats.includes(jsonSchema.format ?? '')) delete jsonSchema.format
    },
  })
