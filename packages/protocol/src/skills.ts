import { z } from 'zod'
import { Line, ListQuery, Timestamp } from './primitives.ts'

export const skillSources = ['anthropic', 'custom'] as const
export type SkillSource = (typeof skillSources)[number]

/**
 * Both generations of names in one object; only `source` depends on the dialect. `latest_version` is null once all
 * versions are deleted. [dialects/skill-source] [skills/field/latest-version]
 */
export const SkillShown = z.object({
  id: z.string(),
  type: z.literal('skill'),
  display_title: z.string(),
  display_name: z.string(),
  name: z.string(),
  description: z.string(),
  /** Digits of the time in microseconds. */
  latest_version: z.string().nullable(),
  latest_version_id: z.string().nullable(),
  source: z.union([z.enum(skillSources), z.object({ type: z.enum(skillSources) })]),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Skill = z.infer<typeof SkillShown>

export const SkillVersionShown = z.object({
  id: z.string(),
  type: z.literal('skill_version'),
  skill_id: z.string(),
  version: z.string(),
  name: z.string(),
  description: z.string(),
  /** The folder that was uploaded. */
  directory: z.string(),
  /** Below the folder. */
  files: z.array(z.object({ filename: z.string() })),
  created_at: Timestamp,
})
export type SkillVersion = z.infer<typeof SkillVersionShown>

/** A caller's own id: it stands in paths. */
const SkillId = z
  .string()
  .regex(/^\w[\w.-]{0,127}$/, 'is 1 to 128 letters, digits, dots, underscores and hyphens')
const title = Line.max(255)

/** What comes beside the files; the two titles are one. */
export const SkillFields = z.strictObject({
  id: SkillId.nullish(),
  display_title: title.nullish(),
  display_name: title.nullish(),
  description: Line.nullish(),
})
export type SkillFields = z.infer<typeof SkillFields>

const files = z.array(z.strictObject({ filename: z.string(), content: z.string() }))

/** Text files as JSON. */
export const SkillBody = SkillFields.extend({ files })
export type SkillBody = z.infer<typeof SkillBody>

export const SkillVersionBody = z.strictObject({ files })

/** What descriptions of the forms show. */
const binary = z.string().meta({ format: 'binary' })
export const SkillForm = SkillFields.extend({ 'files[]': z.array(binary) })
export const SkillArchiveForm = SkillFields.extend({ file: binary })
export const SkillVersionForm = z.strictObject({ 'files[]': z.array(binary) })

export const SkillListQuery = ListQuery.extend({ source: z.enum(skillSources).optional() })
