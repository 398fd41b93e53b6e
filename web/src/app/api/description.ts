/** What the page of the HTTP API reads of an OpenAPI description. */

export interface Parameter {
  name: string;
  type: string;
  isRequired: boolean;
  meaning: string;
}

export interface Field {
  name: string;
  type: string;
  meaning: string;
}

export interface Operation {
  id: string;
  /** The name of its group, empty where it has none. */
  group: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  parameters: Parameter[];
  fields: Field[];
  /** Whether a token is needed, whatever reports need. */
  needs: boolean;
  /** An address that can be followed as it stands, none for what needs parameters or changes something. */
  example: string | null;
}

type Json = Record<string, unknown>;

const METHODS = ["get", "post", "put", "patch", "delete"];

/** The operations of a description, in its order. */
export function operationsOf(description: unknown): Operation[] {
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(object(object(description).paths))) {
    for (const [method, described] of Object.entries(object(item))) {
      if (METHODS.includes(method)) {
        operations.push(operationOf(method, path, object(described), object(description)));
      }
    }
  }
  return operations;
}

/** Operations by their groups, in the order of the first of each. */
export function groupsOf(operations: readonly Operation[]): Map<string, Operation[]> {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    groups.set(operation.group, [...(groups.get(operation.group) ?? []), operation]);
  }
  return groups;
}

function operationOf(method: string, path: string, described: Json, whole: Json): Operation {
  const parameters = list(described.parameters).map((parameter) => parameterOf(object(parameter), whole));
  const isOpen = method === "get" && !path.includes("{") && !parameters.some(({ isRequired }) => isRequired);
  return {
    id: text(described.operationId),
    group: text(list(described.tags)[0]),
    method: method.toUpperCase(),
    path,
    summary: text(described.summary),
    description: text(described.description),
    parameters,
    fields: fieldsOf(described, whole),
    needs: list(described.security).length > 0,
    example: isOpen ? path : null,
  };
}

function parameterOf(parameter: Json, whole: Json): Parameter {
  const schema = object(parameter.schema);
  const fallback =
    schema.default === undefined || schema.default === null ? "" : `, by default ${schema.default}`;
  return {
    name: text(parameter.name),
    type: typeOf(schema, whole) + fallback,
    isRequired: parameter.required === true,
    meaning: text(parameter.description) || text(schema.description),
  };
}

/** The fields of what an operation answers with where it is carried out. */
function fieldsOf(described: Json, whole: Json): Field[] {
  const answers = Object.entries(object(described.responses)).filter(([status]) => status.startsWith("2"));
  for (const [, answer] of answers) {
    const schema = resolved(object(object(object(object(answer).content)["application/json"]).schema), whole);
    const fields = Object.entries(object(schema.properties));
    if (fields.length > 0) {
      return fields.map(([name, field]) => ({
        name,
        type: typeOf(object(field), whole),
        meaning: text(object(field).description) || text(resolved(object(field), whole).description),
      }));
    }
  }
  return [];
}

/** A schema in words. */
function typeOf(schema: Json, whole: Json): string {
  const reference = text(schema.$ref);
  if (reference !== "") {
    return reference.split("/").at(-1) ?? reference;
  }
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  }
  if (schema.const !== undefined) {
    return JSON.stringify(schema.const);
  }
  const choices = [...list(schema.anyOf), ...list(schema.oneOf)];
  if (choices.length > 0) {
    return choices.map((choice) => typeOf(object(choice), whole)).join(" or ");
  }
  if (schema.type === "array") {
    return `list of ${typeOf(object(schema.items), whole)}`;
  }
  return text(schema.type) || "any";
}

function resolved(schema: Json, whole: Json): Json {
  const name = text(schema.$ref).split("/").at(-1) ?? "";
  return name === "" ? schema : object(object(object(whole.components).schemas)[name]);
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
