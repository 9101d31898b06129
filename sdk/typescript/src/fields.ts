// The types of the fields of a question, and of a name that another version may add.

/** Any other name, without losing the completion of the known ones. */
export type Other = string & {};

/** One field of the form. */
export type Field =
  | TextField
  | ChoiceField
  | ChoicesField
  | TextsField
  | BooleanField
  | NumberField
  | ConfirmField
  | JsonField
  | UnknownField;

/** What every field has. */
export interface FieldBase {
  /** The key of the field, unique in the form. */
  name: string;
  /** The label of the field. */
  label: string;
  /** A short label, for a chip or a tab. */
  header?: string;
  /** A longer explanation. */
  help?: string;
  /** Whether its value may be null. One that is left blank is null if the form needs a value. */
  nullable?: boolean;
  /** Whether the form needs a value for this field. Default: `false`. */
  required?: boolean;
  /**
   * The beginning of the names of a group of fields that may be left out as a whole. If any of them has a value, the
   * form needs a value for this field as well.
   */
  requiredWith?: string;
  /** Whether the value is secret: it must not be shown, logged or stored. */
  secret?: boolean;
}

/** A text. */
export interface TextField extends FieldBase {
  kind: "text";
  /** The initial value. */
  default?: string;
  /** A hint at the format, as JSON Schema names it: `email`, `uri`, `date`, `date-time` and so on. */
  format?: string;
  /** The maximum length, in characters. */
  maxLength?: number;
  /** The minimum length, in characters. */
  minLength?: number;
  /** Whether the text may have several lines. Default: `false`. */
  multiline?: boolean;
  /** A regular expression that must match somewhere in the text. */
  pattern?: string;
  /** The text that an empty field shows. */
  placeholder?: string;
}

/** One of the options. */
export interface ChoiceField extends FieldBase {
  kind: "choice";
  /** The options to choose from. */
  options: FieldOption[];
  /** The value of the option that is chosen initially. */
  default?: string;
  /** Whether a free text is accepted instead of an option. Default: `false`. */
  other?: boolean;
}

/** Several of the options. */
export interface ChoicesField extends FieldBase {
  kind: "choices";
  /** The options to choose from. */
  options: FieldOption[];
  /** The values of the options that are chosen initially. */
  default?: string[];
  /** The maximum number of choices. */
  max?: number;
  /** The minimum number of choices. */
  min?: number;
  /** Whether a free text is accepted beside the options. Default: `false`. */
  other?: boolean;
}

/** Several texts, each typed by the person. */
export interface TextsField extends FieldBase {
  kind: "texts";
  /** The initial texts. */
  default?: string[];
  /** A hint at the format of each text, as JSON Schema names it. */
  format?: string;
  /** The maximum number of texts. */
  max?: number;
  /** The maximum length of each text, in characters. */
  maxLength?: number;
  /** The minimum number of texts. */
  min?: number;
  /** The minimum length of each text, in characters. */
  minLength?: number;
  /** A regular expression that must match somewhere in each text. */
  pattern?: string;
  /** Whether no text may stand twice. */
  unique?: boolean;
}

/** True or false. */
export interface BooleanField extends FieldBase {
  kind: "boolean";
  /** The initial value. */
  default?: boolean;
}

/** A number. */
export interface NumberField extends FieldBase {
  kind: "number";
  /** The initial value. */
  default?: number;
  /** The number must be less than this. */
  exclusiveMax?: number;
  /** The number must be greater than this. */
  exclusiveMin?: number;
  /** Whether the number must be an integer. Default: `false`. */
  integer?: boolean;
  /** The maximum. */
  max?: number;
  /** The minimum. */
  min?: number;
  /** The number must be a multiple of this. */
  step?: number;
}

/** Yes or no, with the agent's own labels. */
export interface ConfirmField extends FieldBase {
  kind: "confirm";
  /** The label for no. */
  no: string;
  /** The label for yes. */
  yes: string;
}

/** JSON that fits a schema, which no other kind can express. The value is the JSON as a text. */
export interface JsonField extends FieldBase {
  kind: "json";
  /** The JSON Schema. */
  schema: unknown;
}

/** A field of a kind that this version does not know, and cannot answer. */
export interface UnknownField extends FieldBase {
  kind: "unknown";
  /** The field as it was sent. */
  raw: Readonly<Record<string, unknown>>;
}

/** One option of a field. */
export interface FieldOption {
  /** The text that the person sees. */
  label: string;
  /** The value that the agent gets. */
  value: string;
  /** Whether choosing it takes a second step whatever the permission itself risks. */
  dangerous?: boolean;
  /** A longer explanation. */
  description?: string;
  /** What choosing it allows beyond the act that is shown, each on a line: a mode, rules, folders, hosts. */
  grants?: string[];
  /** A sample of what the option leads to. */
  preview?: Preview;
  /** The effect of choosing an option of a permission. */
  role?: Role;
}

/** The effect of choosing an option of a permission. */
export type Role = KnownRole | Other;

/** The effect of choosing an option of a permission. */
export type KnownRole = "allow_once" | "allow_always" | "reject_once" | "reject_always";

/** A sample of what an option leads to. Show it as text unless you can render its format safely. */
export interface Preview {
  /** The format of the text. */
  format: PreviewFormat;
  /** The text. */
  text: string;
}

/** The format of a preview's text. */
export type PreviewFormat = KnownPreviewFormat | Other;

/** The format of a preview's text. */
export type KnownPreviewFormat = "markdown" | "code" | "text" | "mermaid" | "svg" | "html";
