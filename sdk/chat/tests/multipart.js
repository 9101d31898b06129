// Requests that have files, as the stand-ins read them, and images for them.

/** Returns what a form has: texts by name, and files by name. */
export function formOf({ headers }, body) {
  const [, quoted, bare] = /boundary=(?:"([^"]+)"|([^;]+))/.exec(headers["content-type"]);
  const [fields, files] = [{}, {}];
  // Each letter is one byte.
  for (const part of body.toString("latin1").split(`--${quoted ?? bare}`).slice(1, -1)) {
    const end = part.indexOf("\r\n\r\n");
    const [head, bytes] = [part.slice(0, end), Buffer.from(part.slice(end + 4, -2), "latin1")];
    const [, name] = /[; ]name="([^"]*)"/i.exec(head);
    const [, file] = /filename="?([^";\r]*)/i.exec(head) ?? [];
    if (file === undefined) fields[name] = bytes.toString();
    else files[name] = { name: file, type: /content-type: *([^\r]*)/i.exec(head)?.[1], bytes };
  }
  return { fields, files };
}

/** A PNG of this size, as far as its size is read. */
export function png(width, height, more = 0) {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), size, Buffer.from("0806000000", "hex"), Buffer.alloc(more, "z")]);
}

/** Returns the width and the height of such a PNG. */
export const sizeOf = bytes => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
