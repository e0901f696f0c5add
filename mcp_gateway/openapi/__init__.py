"""
The OpenAPI room: an OpenAPI 3.0 or 3.1 document becomes the tools of a manifest (pure: bytes in, values out).

Enter at ``translation.translate``. ``document`` reads the text, ``references`` follows ``$ref`` inside of it and never
out of it, ``schemas`` turns a Schema Object into JSON Schema 2020-12 that stands alone, ``names``
gives each tool and definition a name of its own. Nothing of the gateway needs this room;
``mcp-gateway manifest from-openapi`` does. See ``docs/how-to/use-an-openapi-document.md``.
"""
